/* The result of a job that has succeeded: its metrics, what became of the model, where to go. */
import { Component, h } from '../../base/preact.js';
import { path } from '../../base/api.js';
import { count, number, percent, plural } from '../../base/format.js';
import { link } from '../../base/place.js';
import { saveAnswer } from '../../base/save.js';
import { METRICS, metricLabel, metricSpread, metricText, metricValue } from
    '../../parts/metrics.js';
import { announce } from '../../parts/status.js';
import { Fact } from '../../parts/fact.js';
import { DataTable } from '../../parts/table.js';
import { isSearch, mainMetric } from './job_text.js';

const FACTS = ['accuracy', 'roc_auc', 'log_loss'];
/* Shown by the view of the model only. */
const LEFT_OUT = ['error', 'ambiguous', 'hinge', 'squared_loss', 'logistic_loss'];

function metricFacts(job) {
    const main = mainMetric(job);
    if (!main) {
        const share = job.result.details?.outlier_share;
        return share === undefined ? [] : [h(Fact, {
            value: percent(share), label: 'of the training rows are outliers',
        })];
    }
    const names = [...new Set([main.name, ...FACTS])];
    return names.filter((name) => typeof metricValue(main.metrics, name) === 'number')
        .map((name) => h(Fact, {
            key: name, value: metricText(name, metricValue(main.metrics, name)),
            more: metricSpread(main.metrics, name), label: metricLabel(name),
        }));
}

/* Of which rows the metrics are. */
function rowsText(job) {
    const { metrics, rows } = job.result;
    if (!metrics?.train && !metrics?.validation) {
        return 'The method has no target: it separates usual rows from outliers.';
    }
    if (!metrics.validation) {
        return `Measured on the ${count(metrics.train.rows)} training rows: such figures are too ` +
            'good. Hold some rows out to see how the model does on new ones.';
    }
    const folds = Boolean(metrics.validation.std);
    return folds
        ? 'Measured on rows that were held out: means over the folds, ± their standard ' +
            'deviation. ' +
            `The model itself is trained on all ${count(rows?.train)} rows.`
        : `Measured on ${count(metrics.validation.rows)} rows that the training did not see. ` +
            'Ranges are intervals of 95 % confidence.';
}

function SearchText({ search }) {
    const { metric, inner, outer, tried, combinations, complete } = search;
    return h('p', {}, [
        `The search tried ${count(tried)} of ${plural(combinations, 'candidate')}`,
        complete ? '. ' : ' before it was ended: the winner is the best of these. ',
        `${metricLabel(metric)} of the winner: `,
        outer === null || outer === undefined ? null : [
            h('strong', {}, metricText(metric, outer)),
            ' on rows that the search did not see (report this one), ',
        ],
        `${metricText(metric, inner?.mean)} ± ${number(inner?.standard_error, 2)} in the search, ` +
            'which is too good because the winner is the best of many.',
    ]);
}

function Promotion({ result }) {
    const { promoted, version, promotion } = result;
    if (promoted === undefined) {
        return null;
    }
    const reason = promotion?.reason ? `: ${promotion.reason}` : '';
    return h('p', {}, promoted ? `Version ${version} is live${reason}.`
        : `Version ${version} did not become live${reason}.`);
}

function Details({ result }) {
    const { converged, stop_reason: reason, iterations, conformal } = result;
    const texts = [
        iterations ? `${converged ? 'Converged' : 'Not converged'} after ` +
            `${plural(iterations, 'iteration')} (${String(reason).replace(/_/g, ' ')}).` : null,
        conformal ? `Sets of labels have the true label in ${percent(conformal.coverage, 0)} of ` +
            `new rows (from ${plural(conformal.rows, 'held-out row')}).` : null,
    ].filter(Boolean);
    return texts.length > 0 ? h('p', { class: converged ? 'minor' : null }, texts.join(' ')) : null;
}

export class JobResult extends Component {
    shouldComponentUpdate({ job }) {
        return job !== this.props.job;
    }

    async save() {
        const { job } = this.props;
        try {
            await saveAnswer(path`/v1/jobs/${job.id}/predictions`,
                `${job.model}-job-${job.id}-held-out.csv`, { accept: 'text/csv' });
        } catch (error) {
            announce(`The predictions were not saved: ${error.message}`);
        }
    }

    render({ job }) {
        const { result } = job;
        const at = { version: result.version };
        return h('section', { class: 'card stack job-status', 'aria-label': 'Result' }, [
            h('div', { class: 'facts' }, metricFacts(job)),
            h('p', { class: 'minor' }, rowsText(job)),
            isSearch(job) && result.search ? h(SearchText, { search: result.search }) : null,
            h(Promotion, { result }),
            h(Details, { result }),
            h('div', { class: 'buttons' }, [
                h('a', {
                    class: 'button primary', href: link(['models', job.model], at),
                }, 'Open the model'),
                h('a', { class: 'button', href: link(['try', job.model], at) }, 'Try it'),
                h('a', {
                    class: 'button', href: link(['boundaries', job.model], at),
                }, 'See its boundaries'),
                result.predictions ? h('button', {
                    type: 'button', onClick: () => this.save(),
                }, `Save ${plural(result.predictions.rows, 'held-out prediction')}`) : null,
            ]),
        ]);
    }
}

/* All metrics of a job with their intervals. */
export function JobMetrics({ metrics }) {
    const { train, validation } = metrics;
    const names = Object.keys(METRICS).filter((name) => !LEFT_OUT.includes(name) &&
        [train, validation].some((set) => typeof metricValue(set, name) === 'number'));
    const column = (set, name, label) => ({
        name, label, numeric: true, value: (metric) => metricValue(set, metric),
        cell: (metric) => h('span', {}, [
            metricText(metric, metricValue(set, metric)),
            h('span', { class: 'minor block keep-together' }, metricSpread(set, metric)),
        ]),
    });
    return h('section', { class: 'card', 'aria-label': 'Metrics' }, [
        h('h2', {}, 'Metrics'),
        h(DataTable, {
            caption: 'Metrics with their intervals', rows: names, sort: false,
            columns: [
                {
                    name: 'metric', label: 'Metric',
                    cell: (name) => h('span', {}, [
                        metricLabel(name),
                        h('span', { class: 'minor block meaning' }, METRICS[name].text),
                    ]),
                },
                ...(validation ? [column(validation, 'validation', 'Held-out rows')] : []),
                ...(train ? [column(train, 'train', 'Training rows')] : []),
            ],
        }),
    ]);
}
