/* The tab "Quality": how good a version is, on held-out rows, training rows or chosen data. */
import { Component, h } from '../../base/preact.js';
import { get, path, post } from '../../base/api.js';
import { count, number, percent } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { METRICS, metricSpread, metricText, metricValue } from '../../parts/metrics.js';
import { Warnings } from '../../parts/problem.js';
import { DataTable } from '../../parts/table.js';
import { Confusion } from './confusion.js';
import { Calibration, Curves } from './curves.js';
import { DatasetChoice } from '../../parts/dataset_choice.js';
import { validationText } from './origin.js';
import { versionPath } from '../../base/version_path.js';

/* One column of figures: label, and metrics as the API has them. */
function MetricTable({ columns }) {
    const rows = Object.keys(METRICS).filter((name) => columns.some((c) =>
        typeof metricValue(c.metrics, name) === 'number' &&
        (name !== 'ambiguous' || c.metrics.ambiguous > 0)));
    return h(DataTable, {
        caption: 'Metrics', sort: false, rows,
        columns: [
            { name: 'label', label: 'Metric', cell: (name) => METRICS[name].label },
            ...columns.map((c, i) => ({
                name: `values ${i}`, label: c.label, cell: (name) => h('span', {}, [
                    h('strong', {}, metricText(name, metricValue(c.metrics, name))),
                    ' ',
                    h('span', { class: 'minor keep-together' }, metricSpread(c.metrics, name)),
                ]),
            })),
            { name: 'better', label: 'Better is', cell: (name) => (METRICS[name].low ? 'less'
                : 'more') },
            { name: 'text', label: 'What it means', cell: (name) => h('span', {
                class: 'minor meaning' }, METRICS[name].text) },
        ],
    });
}

function PerClass({ rows }) {
    return h(DataTable, {
        caption: 'Figures of each class', rows, columns: [
            { name: 'class', label: 'Class', cell: (c) => h('span', { class: 'clipped',
                title: String(c.class) }, String(c.class)) },
            { name: 'support', label: 'Rows', numeric: true, cell: (c) => number(c.support) },
            { name: 'precision', label: 'Precision', numeric: true,
                cell: (c) => percent(c.precision) },
            { name: 'recall', label: 'Recall', numeric: true, cell: (c) => percent(c.recall) },
            { name: 'f1', label: 'F1', numeric: true, cell: (c) => number(c.f1, 3) },
        ],
    });
}

function NoCurves({ model, source }) {
    return h('p', { class: 'minor' }, [
        source === 'held' ? 'The training kept no curves of its held-out rows. '
            : 'There are no curves of the training rows: they would show the model too good. ',
        'Choose data above to draw them, or ',
        h('a', { href: link(['train'], { job: model.job }) }, 'train again'),
        ' with curves.',
    ]);
}

/* The figures of one source. metrics: confusion, per_class; curves: metrics with curves or null. */
function Figures({ model, source, columns, metrics, curves }) {
    const name = `${model.name}-${model.version}`;
    return h('div', { class: 'stack' }, [
        h('section', { class: 'card stack', 'aria-label': 'Errors' }, [
            h('h2', {}, 'Where it is right and wrong'),
            metrics.confusion ? h(Confusion, {
                confusion: metrics.confusion, ambiguous: metrics.ambiguous, name,
            }) : h('p', { class: 'minor' }, 'There is no confusion matrix.'),
        ]),
        h('section', { class: 'card stack', 'aria-label': 'Metrics' }, [
            h('h2', {}, 'All figures'), h(MetricTable, { columns }),
            h('p', { class: 'minor' }, 'Ranges are 95 % intervals: with other rows of the same ' +
                'kind the figure would be about in this range.'),
        ]),
        metrics.per_class ? h('section', { class: 'card stack', 'aria-label': 'Classes' }, [
            h('h2', {}, 'Each class'),
            h('p', { class: 'minor' }, 'Precision: of the rows with this label, the share ' +
                'that is right. Recall: of the rows of this class, the share that is found.'),
            h(PerClass, { rows: metrics.per_class }),
        ]) : null,
        h('section', { class: 'stack', 'aria-label': 'Curves' }, [
            h('h2', {}, 'Curves'),
            curves ? h('div', { class: 'grid plots' }, [
                curves.roc ? h(Curves, { of: 'roc', curves: curves.roc, name }) : null,
                curves.precision_recall ? h(Curves, { of: 'precision_recall', name,
                    curves: curves.precision_recall }) : null,
                curves.calibration ? h(Calibration, { bins: curves.calibration, name }) : null,
            ]) : h(NoCurves, { model, source }),
        ]),
    ]);
}

function Held({ model }) {
    const { validation, train } = model.metrics;
    const { pooled } = validation;
    const columns = [{
        label: model.validation?.folds ? 'Mean of the folds' : 'Held-out rows', metrics: validation,
    }];
    if (pooled) {
        columns.push({ label: 'All held-out rows together', metrics: pooled });
    }
    if (train) {
        columns.push({ label: 'Training rows (too good)', metrics: train });
    }
    const curves = pooled || validation;
    return h(Figures, {
        model, source: 'held', columns, metrics: validation, curves: curves.roc ? curves : null,
    });
}

function Train({ model }) {
    const { train } = model.metrics;
    return h(Figures, {
        model, source: 'train', metrics: train, curves: train.roc ? train : null,
        columns: [{ label: 'Training rows (too good)', metrics: train }],
    });
}

/* Whether the cells of a column can be the truth for a model that finds outliers. */
function tellsOutliers({ type, top }) {
    return type === 'categorical' && Boolean(top) &&
        top.every(([value]) => value === 'inlier' || value === 'outlier');
}

/* The choice of the column that tells which rows of a dataset are outliers. */
function TruthChoice({ data, value }) {
    return h(Loaded, {
        of: data, what: `the columns of ${data}`,
        load: (signal) => get(path`/v1/datasets/${data}`, { signal }),
        show: ({ columns }) => {
            const names = columns.filter(tellsOutliers).map(({ name }) => name);
            return names.length === 0 ? h('p', { class: 'empty' }, `${data} has no column whose ` +
                'cells are “inlier” or “outlier”: it is not known which rows are outliers.')
                : h(Choice, {
                    label: 'Column with the truth', value: value || '',
                    options: [{ value: '', label: 'choose a column' }, ...names],
                    onChange: (truth) => setQuery({ truth }),
                });
        },
    });
}

/* The figures on a chosen dataset. truth: the column with the right answers of a model without a
 * target. */
function OnData({ model, data, truth }) {
    const request = {
        method: 'POST', query: { curves: true }, body: { dataset: data, target: truth },
        path: `${versionPath(model)}/evaluate`,
    };
    return h('div', { class: 'stack' }, [
        h(Loaded, {
            of: [model.name, model.version, model.decision_rule?.revision, data, truth],
            what: `the figures on ${data}`,
            load: (signal) => post(request.path, request.body, { query: request.query, signal }),
            show: (answer) => h('div', { class: 'stack' }, [
                h('p', { role: 'status' }, `Measured on ${count(answer.rows)} rows of ${data}` +
                    `${answer.weight ? `, weighted by the column “${answer.weight}”` : ''}` +
                    `${model.decision_rule ? ', with the stored decision rule' : ''}.`),
                h(Warnings, { warnings: answer.warnings }),
                h(Figures, {
                    model, source: 'data', metrics: answer.metrics,
                    curves: answer.metrics.roc ? answer.metrics : null,
                    columns: [{ label: data, metrics: answer.metrics }],
                }),
            ]),
        }),
        h(RequestCode, { request, title: 'The same measurement by command' }),
    ]);
}

/* The chosen source: 'held', 'train' or 'data'. */
function sourceOf(model, query) {
    if (query.data) {
        return 'data';
    }
    const best = model.metrics?.validation ? 'held' : model.metrics?.train ? 'train' : 'data';
    return query.source === 'train' && model.metrics?.train ? 'train'
        : query.source === 'data' ? 'data' : best;
}

function explanation(model, source, data) {
    if (source === 'held') {
        return `${validationText(model)} These figures are honest: the model did not learn from ` +
            'these rows.';
    }
    if (source === 'train') {
        return 'The model has learned from these very rows, so these figures are too good.';
    }
    return data === model.dataset?.name
        ? 'These are the data that the model was trained on: the figures are too good.'
        : model.target === null ? 'The data need the columns of the model and a column whose ' +
            'cells are “inlier” or “outlier”.'
            : 'The data need the columns of the model and the column that it predicts.';
}

export class Quality extends Component {
    render({ model, query }) {
        const source = sourceOf(model, query);
        const needsTruth = model.target === null;
        const options = [
            model.metrics?.validation ? { value: 'held', label: 'Held-out rows (validation)' }
                : null,
            model.metrics?.train ? { value: 'train', label: 'Training rows' } : null,
            { value: 'data', label: 'Data that I choose' },
        ].filter(Boolean);
        return h('div', { class: 'stack' }, [
            h('section', { class: 'card stack', 'aria-label': 'Rows' }, [
                h('div', { class: 'fields broad' }, [
                    h(Choice, {
                        label: 'Measured on', value: source, options,
                        onChange: (value) => setQuery({ source: value, data: undefined }),
                    }),
                    source === 'data' ? h(DatasetChoice, {
                        label: 'Evaluate on data', value: query.data || '',
                        preferred: model.dataset?.name,
                        onChange: (value) => setQuery({ source: 'data', data: value,
                            truth: undefined }),
                    }) : null,
                    source === 'data' && query.data && needsTruth
                        ? h(TruthChoice, { data: query.data, value: query.truth }) : null,
                ]),
                h('p', { class: source === 'held' ? 'minor' : 'warnings' },
                    explanation(model, source, query.data)),
            ]),
            source === 'held' ? h(Held, { model }) : null,
            source === 'train' ? h(Train, { model }) : null,
            source === 'data' && query.data && !(needsTruth && !query.truth) ? h(OnData, {
                model, data: query.data, truth: needsTruth ? query.truth : undefined,
            }) : null,
            source === 'data' && !query.data ? h('div', { class: 'empty' },
                'Choose data above: the model labels all rows, and the labels are compared with ' +
                'the true ones.') : null,
        ]);
    }
}
