/* The threshold and the costs of two classes: what a threshold changes as it moves. */
import { Component, h } from '../../base/preact.js';
import { d3 } from '../../base/d3.js';
import { number, percent } from '../../base/format.js';
import { frame, xAxis, yAxis } from '../../parts/axes.js';
import { Fact } from '../../parts/fact.js';
import { Choice, NumberField, Radios, Slider } from '../../parts/fields.js';
import { Figure } from '../../parts/figure.js';
import { Legend, colour } from '../../parts/palette.js';
import { Confusion } from './confusion.js';
import { Thresholds } from './held_out.js';
import { StoreRule } from './store_rule.js';

const N_STEPS = 200;
const SLIDER_STEP = 0.001;

/* How a threshold can be found. `stored`: the member of the rule that the daemon understands. */
const GOALS = [
    { value: '', label: 'Choose …' },
    { value: 'cost', label: 'Least cost on these rows' },
    { value: 'f1', label: 'Greatest F1 (precision and recall)', stored: true },
    { value: 'accuracy', label: 'Greatest accuracy', stored: true },
    { value: 'youden', label: 'Most found, fewest false alarms (Youden)', stored: true },
    { value: 'mcc', label: 'Greatest Matthews correlation', stored: true },
    { value: 'precision', label: 'Most found with a precision of at least …' },
];

const SERIES = [
    { name: 'precision', label: 'Precision: labels that are right' },
    { name: 'recall', label: 'Recall: share that is found' },
    { name: 'f1', label: 'F1: both in one number' },
];

function costOf(figures, { miss, alarm }) {
    return (figures.fn * miss + figures.fp * alarm) / figures.all;
}

function axes(svg, size, yDomain, label) {
    const inner = frame(svg, size);
    const x = d3.scaleLinear().domain([0, 1]).range([0, inner.width]);
    const y = d3.scaleLinear().domain(yDomain).nice().range([inner.height, 0]);
    xAxis(inner, x, { label: 'Threshold', grid: true, ticks: 5 });
    yAxis(inner, y, { label, grid: true, ticks: 5 });
    return { ...inner, x, y };
}

/* Lines over the thresholds, and a mark at the chosen one. series: [{values, colour}] */
function drawLines(svg, size, { steps, series, at, domain, label }) {
    const plot = axes(svg, size, domain, label);
    series.forEach((values, i) => {
        const line = d3.line().defined((v) => v !== null).x((v, k) => plot.x(steps[k]))
            .y((v) => plot.y(v));
        plot.g.append('path').attr('class', 'curve').style('stroke', colour(i))
            .attr('d', line(values));
    });
    plot.g.append('line').attr('class', 'mark').attr('x1', plot.x(at)).attr('x2', plot.x(at))
        .attr('y1', 0).attr('y2', plot.height);
}

/* A cost that was typed; null: it is no number from 0 on. */
function costNumber(text) {
    const x = Number(text);
    return text.trim() !== '' && Number.isFinite(x) && x >= 0 ? x : null;
}

/* model; data: of loadHeldOut(), of the dataset `on`; store: (rule) => stores it */
export class Threshold extends Component {
    constructor(props) {
        super(props);
        const { classes, decision_rule: decision } = props.model;
        const positive = decision?.positive_index ?? 1;
        const cost = (i, j) => String(decision?.costs?.[i]?.[j] ?? 1);
        this.state = {
            positive, threshold: decision?.threshold ?? 0.5, goal: '', precision: '90',
            miss: cost(positive, 1 - positive), alarm: cost(1 - positive, positive),
        };
        this.classes = classes;
        this.prepare(positive);
    }

    /* Computes the figures at all steps. */
    prepare(positive) {
        this.curve = new Thresholds(this.props.data, positive);
        this.steps = d3.range(N_STEPS + 1).map((i) => i / N_STEPS);
        this.figures = this.steps.map((t) => this.curve.at(t));
    }

    setPositive(positive) {
        this.prepare(positive);
        this.setState(({ miss, alarm, threshold }) => ({
            positive, miss: alarm, alarm: miss, threshold: 1 - threshold, goal: '',
        }));
    }

    costs({ miss, alarm }) {
        return { miss: costNumber(miss) ?? 0, alarm: costNumber(alarm) ?? 0 };
    }

    /* The threshold of a goal; null: there is none. */
    find(goal, state) {
        const costs = this.costs(state);
        if (goal === 'cost') {
            return this.curve.best((f) => -costOf(f, costs));
        }
        if (goal === 'precision') {
            const least = Number(state.precision) / 100;
            return this.curve.best((f) => (f.precision !== null && f.precision >= least ? f.recall
                : null));
        }
        return this.curve.best((f) => f[goal]);
    }

    /* Changes the state, and moves the threshold to the goal if there is one. */
    change(values) {
        this.setState((state) => {
            const next = { ...state, ...values };
            const found = next.goal ? this.find(next.goal, next) : null;
            return { ...next, threshold: found ?? next.threshold };
        });
    }

    rule({ positive, threshold, goal, precision }) {
        const name = this.classes[positive];
        const { on, data } = this.props;
        const held = !on && data.rows; /* from which the daemon chooses the same threshold */
        if (held && GOALS.find((g) => g.value === goal).stored) {
            return { positive: name, maximise: goal };
        }
        if (held && goal === 'precision') {
            return { positive: name, precision_at_least: Number(precision) / 100 };
        }
        return { positive: name, threshold };
    }

    controls(state) {
        const { positive, threshold, goal, precision, miss, alarm } = state;
        const name = this.classes[positive];
        const other = this.classes[1 - positive];
        const bad = (text) => (costNumber(text) === null ? 'A number from 0 on' : null);
        return h('div', { class: 'stack' }, [
            h(Radios, {
                label: 'Which class do you look for?', value: positive,
                options: this.classes.map((c, i) => ({ value: i, label: String(c) })),
                onChange: (value) => this.setPositive(value),
            }),
            h('div', { class: 'fields broad' }, [
                h(NumberField, {
                    label: `Cost of missing “${name}”`, value: miss, error: bad(miss),
                    hint: `A row of “${name}” labelled “${other}”`,
                    onInput: (text) => this.change({ miss: text }),
                }),
                h(NumberField, {
                    label: 'Cost of a false alarm', value: alarm, error: bad(alarm),
                    hint: `A row of “${other}” labelled “${name}”`,
                    onInput: (text) => this.change({ alarm: text }),
                }),
                h(Choice, {
                    label: 'Find the threshold for me', value: goal, options: GOALS,
                    onChange: (value) => this.change({ goal: value }),
                }),
                goal === 'precision' ? h(NumberField, {
                    label: 'Precision in percent', value: precision,
                    error: Number(precision) >= 0 && Number(precision) <= 100 ? null
                        : 'A number from 0 to 100',
                    onInput: (text) => this.change({ precision: text }),
                }) : null,
            ]),
            h(Slider, {
                label: 'Threshold', value: threshold, min: 0, max: 1, step: SLIDER_STEP,
                text: (t) => number(t, 3),
                hint: `A row is labelled “${name}” if its probability is at least this.`,
                onInput: (value) => this.setState({ threshold: value, goal: '' }),
            }),
            goal && this.find(goal, state) === null
                ? h('p', { class: 'error', role: 'status' }, 'No threshold reaches this.') : null,
        ]);
    }

    outcome(state, now, plain) {
        const name = this.classes[state.positive];
        const costs = this.costs(state);
        const pairs = [
            ['Cost per row', number(costOf(now, costs)),
                `${number(costOf(plain, costs))} at 0.5`],
            ['Found', percent(now.recall), `${percent(plain.recall)} at 0.5`],
            ['Right of those labelled', percent(now.precision),
                `${percent(plain.precision)} at 0.5`],
            ['Right of all', percent(now.accuracy), `${percent(plain.accuracy)} at 0.5`],
        ];
        return h('div', { class: 'stack', role: 'status' }, [
            h('p', {}, `With this threshold ${number(Math.round(now.tp + now.fp))} of ${
                number(Math.round(now.all))} rows are labelled “${name}”: ${
                number(Math.round(now.tp))} rightly, ${number(Math.round(now.fp))} wrongly; ${
                number(Math.round(now.fn))} missed.`),
            h('div', { class: 'facts' }, pairs.map(([label, value, more]) =>
                h(Fact, { label, value, more }))),
        ]);
    }

    /* The confusion matrix in the order of the classes. */
    matrix({ tp, fn, fp, tn }, positive) {
        const own = [tp, fn].map(Math.round);
        const other = [fp, tn].map(Math.round);
        return positive === 0 ? [own, other] : [[...other].reverse(), [...own].reverse()];
    }

    plots(state) {
        const { threshold: at } = state;
        const costs = this.costs(state);
        const { steps } = this;
        const shares = SERIES.map((s) => this.figures.map((f) => f[s.name]));
        const cost = this.figures.map((f) => costOf(f, costs));
        return h('div', { class: 'grid plots' }, [
            h(Figure, {
                title: 'Precision and recall by threshold', name: 'threshold', height: 260,
                of: `${at} ${state.positive}`,
                draw: (svg, size) => drawLines(svg, size, { steps, series: shares, at,
                    domain: [0, 1], label: 'Share' }),
                table: () => ({
                    names: ['threshold', ...SERIES.map((s) => s.name)],
                    rows: steps.map((t, i) => [t, ...shares.map((values) => values[i])]),
                }),
            }, h(Legend, { line: true, names: SERIES.map((s) => s.label) })),
            h(Figure, {
                title: 'Cost by threshold', name: 'cost', height: 260,
                of: `${at} ${state.positive} ${costs.miss} ${costs.alarm}`,
                draw: (svg, size) => drawLines(svg, size, { steps, series: [cost], at,
                    domain: [0, d3.max(cost) || 1], label: 'Cost per row' }),
                table: () => ({
                    names: ['threshold', 'cost per row'],
                    rows: steps.map((t, i) => [t, cost[i]]),
                }),
            }, h('p', { class: 'minor' }, 'The vertical line is the chosen threshold.')),
        ]);
    }

    render({ model, data, on, store }, state) {
        const now = this.curve.at(state.threshold);
        const plain = this.curve.at(0.5);
        return h('section', { class: 'card stack', 'aria-labelledby': 'threshold-title' }, [
            h('h2', { id: 'threshold-title' }, 'Move the threshold'),
            h('p', { class: 'minor' }, `Computed from ${data.rows
                ? `the predictions for ${number(data.rows.n)} rows ${on ? `of ${on}`
                    : 'that the training held out'}`
                : `the ROC curve of ${on ? `the data ${on}` : 'the held-out rows'}`}. Nothing is ` +
                'changed until the rule is stored.'),
            this.controls(state),
            this.outcome(state, now, plain),
            this.plots(state),
            h('h3', {}, 'Errors at this threshold'),
            h('p', { class: 'minor' }, 'The small numbers are the change against a threshold of ' +
                '0.5.'),
            h(Confusion, {
                name: `${model.name}-${model.version}-threshold`,
                confusion: { classes: this.classes, matrix: this.matrix(now, state.positive) },
                before: this.matrix(plain, state.positive),
            }),
            h(StoreRule, { model, rule: this.rule(state), store, label: 'Store this threshold' }),
        ]);
    }
}
