/* The answer of a comparison: figures side by side, differences, and rows with other labels. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { count, number, percent, plural } from '../../base/format.js';
import { link } from '../../base/place.js';
import { frame, xAxis } from '../../parts/axes.js';
import { Fact } from '../../parts/fact.js';
import { Figure } from '../../parts/figure.js';
import { METRICS, metricText, metricValue } from '../../parts/metrics.js';
import { Warnings } from '../../parts/problem.js';
import { DataTable } from '../../parts/table.js';

const SURE = 0.05;
const ROW = 26; /* px */
const PLOTTED = ['accuracy', 'balanced_accuracy', 'macro_f1', 'roc_auc', 'average_precision', 'mcc',
    'kappa', 'brier', 'ece', 'log_loss'];

/* `macro_f1` of intervals and differences is `macro.f1` of metrics. */
const plain = (name) => name.replace('macro_f1', 'macro.f1');

function interval(name, ends) {
    return ends ? `${metricText(name, ends[0])} to ${metricText(name, ends[1])}` : '';
}

/* 1: the first is better, -1: the second, 0: not clear. */
function verdict(name, { interval: ends }) {
    if (!ends || (ends[0] <= 0 && ends[1] >= 0)) {
        return 0;
    }
    return (ends[0] > 0) === !METRICS[name]?.low ? 1 : -1;
}

/* The metrics that both have: [{name, values, intervals, difference}]. */
function rowsOf({ models, pairs: [pair] }) {
    return Object.keys(pair.differences).filter((name) => METRICS[plain(name)] &&
        pair.differences[name].value !== null && name !== 'error').map((name) => ({
        name: plain(name), key: name, difference: pair.differences[name],
        values: models.map((m) => metricValue(m.metrics, plain(name))),
        intervals: models.map((m) => m.intervals[name]),
    }));
}

const title = ({ model, version }) => `${model}, version ${version}`;

function MetricTable({ models, rows }) {
    const words = ['not clear', 'the first', 'the second'];
    return h(DataTable, {
        caption: 'Figures side by side', sort: false, rows,
        columns: [
            { name: 'label', label: 'Metric', cell: (r) => METRICS[r.name].label },
            ...models.map((m, i) => ({
                name: `model ${i}`, label: title(m), cell: (r) => h('span', {}, [
                    h('strong', {}, metricText(r.name, r.values[i])),
                    h('span', { class: 'minor' }, ` ${interval(r.name, r.intervals[i])}`),
                ]),
            })),
            { name: 'difference', label: 'Difference', cell: (r) => h('span', {}, [
                h('strong', {}, metricText(r.name, r.difference.value)),
                h('span', { class: 'minor' }, ` ${interval(r.name, r.difference.interval)}`),
            ]) },
            { name: 'better', label: 'Better is', cell: (r) => {
                const v = verdict(r.name, r.difference);
                return v === 0 ? words[0] : words[v === 1 ? 1 : 2];
            } },
        ],
    });
}

function drawDifferences(svg, size, rows) {
    const left = Math.min(Math.max(size.width * 0.3, 140), 220);
    const inner = frame(svg, size, { top: 4, right: 20, bottom: 42, left });
    const ends = rows.flatMap((r) => [r.difference.value, ...(r.difference.interval || [])]);
    const x = d3.scaleLinear().domain(d3.extent([0, ...ends])).nice().range([0, inner.width]);
    xAxis(inner, x, { label: 'First minus second', grid: true });
    rows.forEach((r, i) => {
        const y = (i + 0.5) * ROW;
        inner.g.append('text').attr('x', -10).attr('y', y).attr('text-anchor', 'end')
            .attr('dominant-baseline', 'central').text(METRICS[r.name].label);
        if (r.difference.interval) {
            const [low, high] = r.difference.interval;
            inner.g.append('path').attr('class', 'whisker').attr('d',
                `M${x(low)} ${y}H${x(high)}M${x(low)} ${y - 5}v10M${x(high)} ${y - 5}v10`);
        }
        inner.g.append('circle').attr('class', 'point').attr('cx', x(r.difference.value))
            .attr('cy', y).attr('r', 5);
    });
    inner.g.append('line').attr('class', 'zero').attr('x1', x(0)).attr('x2', x(0)).attr('y1', 0)
        .attr('y2', inner.height);
}

/* Who is right, and McNemar's test in words. */
function Rightness({ answer }) {
    const [first, second] = answer.models;
    const [pair] = answer.pairs;
    const { p_value: p, test } = pair.mcnemar;
    const cells = [
        ['Both right', pair.both_right], [`Only ${title(first)}`, pair.first_right],
        [`Only ${title(second)}`, pair.second_right], ['Both wrong', pair.both_wrong],
    ];
    const better = pair.first_right > pair.second_right ? first : second;
    return h('section', { class: 'card stack', 'aria-labelledby': 'right-title' }, [
        h('h2', { id: 'right-title' }, 'Who is right'),
        h('div', { class: 'facts' }, cells.map(([label, n]) => h(Fact, {
            value: count(n),
            label: `${label} (${percent(answer.rows > 0 ? n / answer.rows : null)})`,
        }))),
        h('p', {}, p < SURE
            ? `${title(better)} is right more often, and hardly by chance (p = ${number(p, 2)}).`
            : `The rows do not show that one is right more often: the difference may be chance ` +
                `(p = ${number(p, 2)}).`),
        h('p', { class: 'minor' }, `McNemar’s test (${test === 'exact' ? 'exact'
            : 'chi-square'}) of the rows that only one of them labels rightly. p is the ` +
            'probability of such a difference, or a larger one, if both are equally good.'),
    ]);
}

function Disagreements({ answer }) {
    const { rows, listed } = answer.disagreements;
    const { name, version } = answer.dataset;
    const prediction = (r, i) => r.predictions[i];
    return h('section', { class: 'card stack', 'aria-labelledby': 'disagree-title' }, [
        h('h2', { id: 'disagree-title' }, 'Where they disagree'),
        rows === 0 ? h('p', {}, 'Nowhere: all labels are the same.') : h('p', {},
            `${plural(rows, 'row')} (${percent(rows / answer.rows)}) get other labels` +
            `${listed.length < rows ? `; these are the first ${listed.length}` : ''}.`),
        rows === 0 ? null : h(DataTable, {
            caption: 'Rows with other labels', rows: listed, columns: [
                { name: 'row', label: 'Row', value: (r) => r.row, cell: (r) => h('a', {
                    class: 'nowrap',
                    href: link(['data', name], { tab: 'rows', version, offset: r.row }),
                }, `Row ${count(r.row)}`) },
                { name: 'truth', label: 'True class', value: (r) => String(r.truth) },
                ...answer.models.map((m, i) => ({
                    name: `model ${i}`, label: title(m),
                    value: (r) => String(prediction(r, i).label ?? '(none)'),
                    cell: (r) => h('span', {}, [
                        prediction(r, i).label === null ? 'no label'
                            : String(prediction(r, i).label),
                        prediction(r, i).label === r.truth ? ' ✓' : ' ✗',
                        typeof prediction(r, i).probability === 'number'
                            ? h('span', { class: 'minor' },
                                ` ${percent(prediction(r, i).probability)}`) : null,
                    ]),
                })),
            ],
        }),
    ]);
}

/* answer: of the API; trained: whether the dataset is the one of the training */
export class Comparison extends Component {
    plotted(rows) {
        if (this.of !== this.props.answer) {
            this.of = this.props.answer;
            this.list = PLOTTED.map((key) => rows.find((r) => r.key === key))
                .filter((r) => r && Math.abs(r.difference.value) <= 1);
        }
        return this.list;
    }

    render({ answer, trained }) {
        const rows = rowsOf(answer);
        const plotted = this.plotted(rows);
        const warnings = answer.models.flatMap((m) => m.warnings || []);
        return h('div', { class: 'stack' }, [
            h('p', { class: trained ? 'warnings' : 'minor', role: 'status' },
                `Compared on ${plural(answer.rows, 'row')} of ${answer.dataset.name}, version ${
                    answer.dataset.version}.${trained ? ' A model was trained on these data: its ' +
                    'figures may be too good, and the comparison unfair.' : ''}`),
            h(Warnings, { warnings: [...new Set(warnings)] }),
            h('section', { class: 'card stack', 'aria-labelledby': 'sides-title' }, [
                h('h2', { id: 'sides-title' }, 'Side by side'),
                h(MetricTable, { models: answer.models, rows }),
                h('p', { class: 'minor' }, `Ranges are ${percent(answer.confidence, 0)} ` +
                    `intervals from ${count(answer.bootstrap)} random samples of these rows. ` +
                    'A difference whose range includes 0 may be chance.'),
                plotted.length ? h(Figure, {
                    title: 'Differences with their intervals', name: 'comparison', of: plotted,
                    height: plotted.length * ROW + 46,
                    draw: (svg, size) => drawDifferences(svg, size, plotted),
                    table: () => ({
                        names: ['metric', 'difference', 'low', 'high'],
                        rows: plotted.map((r) => [METRICS[r.name].label, r.difference.value,
                            ...(r.difference.interval || [null, null])]),
                    }),
                }) : null,
            ]),
            h(Rightness, { answer }),
            h(Disagreements, { answer }),
        ]);
    }
}
