/* The densities of the classes: Gaussian classes, and the factors of naive Bayes. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { count, number, percent } from '../../base/format.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Check, Choice } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour } from '../../parts/palette.js';
import { DataTable } from '../../parts/table.js';
import { Bars } from './bars.js';
import { Ellipses } from './ellipses.js';

const MOST_CLASSES = 8; /* whose curves are drawn; more: the most frequent ones */
const MOST_COLUMNS = 500; /* that can be chosen */
const STEPS = 200;
const REACH = 3.5; /* standard deviations beyond the means */

/* How far apart the means are, compared with the spread within the classes. */
function separation({ mean, variance }, priors) {
    const all = d3.sum(priors, (p, k) => p * mean[k]);
    const between = d3.sum(priors, (p, k) => p * (mean[k] - all) ** 2);
    const within = d3.sum(priors, (p, k) => p * variance[k]);
    return within > 0 ? between / within : 0;
}

/* The columns that separate the classes best, the best first. */
function byGap(columns, priors) {
    return columns.map((c) => ({ ...c, gap: separation(c, priors) }))
        .sort((a, b) => b.gap - a.gap).slice(0, MOST_COLUMNS);
}

/* The indices of the most frequent classes, ascending. */
function frequent(priors) {
    return d3.range(priors.length).sort((a, b) => priors[b] - priors[a])
        .slice(0, MOST_CLASSES).sort((a, b) => a - b);
}

function density(x, mean, variance) {
    return Math.exp(-((x - mean) ** 2) / (2 * variance)) / Math.sqrt(2 * Math.PI * variance);
}

/* The curves of a column: {xs, lines: [values]}. */
function curves({ mean, variance }, classes, weights) {
    const known = classes.filter((k) => variance[k] > 0);
    const low = d3.min(known, (k) => mean[k] - REACH * Math.sqrt(variance[k]));
    const high = d3.max(known, (k) => mean[k] + REACH * Math.sqrt(variance[k]));
    const xs = d3.range(STEPS + 1).map((i) => low + ((high - low) * i) / STEPS);
    return { xs, lines: classes.map((k) => xs.map((x) => (variance[k] > 0
        ? weights[k] * density(x, mean[k], variance[k]) : 0))) };
}

function drawCurves(svg, size, { xs, lines }, label, weighted) {
    const inner = frame(svg, size, { top: 12, right: 16, bottom: 40, left: 64 });
    const x = d3.scaleLinear().domain(d3.extent(xs)).range([0, inner.width]);
    const y = d3.scaleLinear().domain([0, d3.max(lines, (l) => d3.max(l)) || 1]).nice()
        .range([inner.height, 0]);
    xAxis(inner, x, { label });
    yAxis(inner, y, { label: weighted ? 'Share × density' : 'Density', grid: true, offset: 52,
        ticks: 4 });
    const area = d3.area().x((_, i) => x(xs[i])).y0(y(0));
    lines.forEach((line, i) => inner.g.append('path').attr('class', 'hump')
        .style('fill', colour(i)).style('stroke', colour(i))
        .attr('d', area.y1((v) => y(v))(line)));
}

/* The curves of one column at a time. columns: [{feature, mean: [class], variance: [class]}] */
class NormalCurves extends Component {
    constructor(props) {
        super(props);
        const { columns, priors } = props;
        this.columns = byGap(columns, priors);
        this.classes = frequent(priors);
        this.state = { chosen: 0, weighted: false };
    }

    render({ model, priors, columns }, { chosen, weighted }) {
        const column = this.columns[chosen];
        const names = this.classes.map((k) => model.classes[k]);
        const drawn = curves(column, this.classes, weighted ? priors : priors.map(() => 1));
        return h('div', { class: 'stack' }, [
            h('div', { class: 'fields broad' }, [
                h(Choice, {
                    label: 'Column', value: chosen,
                    hint: columns.length > MOST_COLUMNS
                        ? `The ${MOST_COLUMNS} that separate the classes best` : 'Those that ' +
                            'separate the classes best come first',
                    options: this.columns.map((c, i) => ({ value: i, label: c.feature })),
                    onChange: (value) => this.setState({ chosen: Number(value) }),
                }),
                h(Check, {
                    label: 'By how frequent the classes are', checked: weighted,
                    onChange: (value) => this.setState({ weighted: value }),
                }),
            ]),
            h(Figure, {
                title: `“${column.feature}” in each class`, name: `${model.name}-density`,
                height: 280, of: `${chosen} ${weighted}`,
                draw: (svg, size) => drawCurves(svg, size, drawn, column.feature, weighted),
                table: () => ({
                    names: ['value', ...names.map(String)],
                    rows: drawn.xs.map((x, i) => [x, ...drawn.lines.map((line) => line[i])]),
                }),
            }, h(Legend, { names })),
            h(DataTable, {
                caption: `Mean and spread of ${column.feature}`,
                rows: this.classes, columns: [
                    { name: 'class', label: 'Class', value: (k) => String(model.classes[k]) },
                    { name: 'share', label: 'Share of the rows', numeric: true,
                        value: (k) => priors[k], cell: (k) => percent(priors[k]) },
                    { name: 'mean', label: 'Mean', numeric: true, value: (k) => column.mean[k],
                        cell: (k) => number(column.mean[k]) },
                    { name: 'deviation', label: 'Standard deviation', numeric: true,
                        value: (k) => column.variance[k],
                        cell: (k) => number(Math.sqrt(column.variance[k])) },
                ],
            }),
            model.classes.length > MOST_CLASSES ? h('p', { class: 'minor' },
                `The ${MOST_CLASSES} most frequent of ${count(model.classes.length)} classes.`)
                : null,
        ]);
    }
}

/* Gaussian classes. weights: of the API with covariances. */
export class Gaussians extends Component {
    constructor(props) {
        super(props);
        const { features, means, covariance, covariances, priors } = props.weights;
        this.covariance = (k, i, j) => {
            const matrix = covariances[covariance === 'shared' ? 0 : k];
            return covariance !== 'diagonal' ? matrix[i][j] : i === j ? matrix[i] : 0;
        };
        this.columns = features.map((feature, j) => ({
            feature, at: j, mean: means.map((m) => m[j]),
            variance: means.map((_, k) => this.covariance(k, j, j)),
        }));
        this.best = byGap(this.columns, priors);
        this.classes = frequent(priors);
    }

    render({ model, weights }) {
        const shapes = {
            shared: 'All classes have the same shape, so the boundaries are straight.',
            full: 'Each class has a shape of its own, so the boundaries are curved.',
            diagonal: 'The columns of a class are taken as independent.',
        };
        return h('section', { class: 'card stack', 'aria-labelledby': 'gaussian-title' }, [
            h('h2', { id: 'gaussian-title' }, 'Class densities'),
            h('p', { class: 'minor' }, 'Each class is a cloud around its mean. A row goes to the ' +
                `class whose cloud is densest there. ${shapes[weights.covariance]}`),
            this.best.length > 1 ? h(Ellipses, {
                model, classes: this.classes, columns: this.best, covariance: this.covariance,
            }) : null,
            h(NormalCurves, { model, priors: weights.priors, columns: this.columns }),
        ]);
    }
}

/* Shares of the categories of a column in each class. */
class Categories extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: 0 };
    }

    render({ model, factors, priors }, { chosen }) {
        const factor = factors[chosen];
        const classes = d3.range(priors.length).sort((a, b) => priors[b] - priors[a])
            .slice(0, MOST_CLASSES);
        return h('div', { class: 'stack' }, [
            h('h3', {}, 'Categories'),
            h('div', { class: 'fields broad' }, h(Choice, {
                label: 'Column', value: chosen,
                options: factors.slice(0, MOST_COLUMNS).map((f, i) => ({ value: i,
                    label: f.column })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })),
            h(DataTable, {
                key: chosen, caption: `Categories of ${factor.column} in each class`,
                rows: factor.levels,
                columns: [
                    { name: 'level', label: 'Category', value: (l) => l.level ?? '(missing)' },
                    ...classes.map((k) => ({
                        name: k, label: `in “${model.classes[k]}”`, numeric: true,
                        value: (l) => l.probability[k], cell: (l) => percent(l.probability[k]),
                    })),
                ],
            }),
        ]);
    }
}

/* How much more probable a word or a true value is in one class than in the others. */
class Ratios extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: props.priors.length === 2 ? 1 : 0 };
    }

    items(k) {
        if (this.by !== k) {
            const { factors, priors } = this.props;
            const rest = 1 - priors[k];
            this.by = k;
            this.list = factors.map(({ feature, probability }) => {
                const other = d3.sum(probability, (p, i) => (i === k ? 0 : p * priors[i])) / rest;
                return { name: feature, value: Math.log2(probability[k] / other),
                    own: probability[k], other };
            }).filter((item) => Number.isFinite(item.value));
        }
        return this.list;
    }

    render({ model }, { chosen }) {
        const name = model.classes[chosen];
        return h('div', { class: 'stack' }, [
            h('h3', {}, 'Words and marks'),
            h('div', { class: 'fields broad' }, h(Choice, {
                label: 'Class', value: chosen,
                options: model.classes.map((c, i) => ({ value: i, label: String(c) })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })),
            h(Bars, {
                title: `What speaks for “${name}”`, name: `${model.name}-ratios`,
                items: this.items(chosen), label: 'Doublings of the share',
                more: [{ name: `share in ${name}`, value: (v) => v.own },
                    { name: 'share in the others', value: (v) => v.other }],
            }, [h('p', { class: 'minor' }, 'How often the share is doubled in this class, ' +
                'compared with the others: 1 is twice as frequent, 3 eight times, −1 half as ' +
                'frequent.')]),
        ]);
    }
}

/* The factors of naive Bayes. weights: of the API, kind naive_bayes */
export class Factors extends Component {
    constructor(props) {
        super(props);
        const { factors } = props.weights;
        const of = (...kinds) => factors.filter((f) => kinds.includes(f.distribution));
        this.numbers = of('gaussian');
        this.categories = of('categorical');
        this.words = of('bernoulli', 'multinomial');
    }

    render({ model, weights: { priors } }) {
        return h('section', { class: 'card stack', 'aria-labelledby': 'factors-title' }, [
            h('h2', { id: 'factors-title' }, 'Class densities'),
            h('p', { class: 'minor' }, 'Each column speaks for itself: the shares of its values ' +
                'in the classes are multiplied. A column whose curves lie apart tells the ' +
                'classes apart.'),
            this.numbers.length
                ? h(NormalCurves, { model, priors, columns: this.numbers }) : null,
            this.categories.length
                ? h(Categories, { model, priors, factors: this.categories }) : null,
            this.words.length ? h(Ratios, { model, priors, factors: this.words }) : null,
        ]);
    }
}
