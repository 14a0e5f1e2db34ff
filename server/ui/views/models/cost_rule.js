/* Costs of errors, for any number of classes, and when a row gets no label. */
import { Component, h } from '../../base/preact.js';
import { count, number, percent } from '../../base/format.js';
import { Fact } from '../../parts/fact.js';
import { Choice, NumberField } from '../../parts/fields.js';
import { Confusion } from './confusion.js';
import { tryCosts } from './held_out.js';
import { StoreRule } from './store_rule.js';

const MOST_CELLS = 8; /* classes whose costs are a table; more are entered pair by pair */
const MOST_STEPS = 60000000; /* multiplications of a trial: some tenth of a second */

/* A cost as a number; null: it is none. '' is the cost that is used if none is given. */
function parse(text, usual) {
    const x = Number(text);
    return text.trim() === '' ? usual : Number.isFinite(x) && x >= 0 ? x : null;
}

/* The costs of a stored rule as texts: Map of "i j". */
function stored(model) {
    const costs = new Map();
    model.decision_rule?.costs?.forEach((row, i) => row.forEach((cost, j) => {
        if (cost !== (i === j ? 0 : 1)) {
            costs.set(`${i} ${j}`, String(cost));
        }
    }));
    return costs;
}

function CostTable({ classes, costs, onChange }) {
    const name = (c) => h('span', { class: 'short', title: String(c) }, String(c));
    return h('div', { class: 'table-scroll' }, h('table', { class: 'data confusion' }, [
        h('caption', { class: 'hidden' }, 'Costs'),
        h('thead', {}, h('tr', {}, [h('th', { scope: 'col' }, 'True class'),
            ...classes.map((c) => h('th', { scope: 'col' }, name(c)))])),
        h('tbody', {}, classes.map((truth, i) => h('tr', {}, [
            h('th', { scope: 'row' }, name(truth)),
            ...classes.map((label, j) => h('td', {}, h('input', {
                class: 'number cost', inputmode: 'decimal', autocomplete: 'off',
                'aria-label': `Cost of the label ${label} for a row of ${truth}`,
                'aria-invalid': parse(costs.get(`${i} ${j}`) ?? '', 0) === null ? 'true' : null,
                value: costs.get(`${i} ${j}`) ?? '', placeholder: i === j ? '0' : '1',
                onInput: (event) => onChange(i, j, event.target.value),
            }))),
        ]))),
    ]));
}

/* Entering the costs of many classes: a pair at a time. */
class CostPairs extends Component {
    constructor(props) {
        super(props);
        this.state = { truth: 0, label: 1, cost: '' };
    }

    render({ classes, costs, onChange }, { truth, label, cost }) {
        const options = classes.map((c, i) => ({ value: i, label: String(c) }));
        const set = (member) => (value) => this.setState({ [member]: Number(value) });
        return h('div', { class: 'stack' }, [
            h('div', { class: 'fields' }, [
                h(Choice, { label: 'True class', value: truth, options, onChange: set('truth') }),
                h(Choice, { label: 'Label', value: label, options, onChange: set('label') }),
                h(NumberField, {
                    label: 'Cost', value: cost, hint: '1 for an error if none is given',
                    onInput: (text) => this.setState({ cost: text }),
                }),
            ]),
            h('div', { class: 'buttons' }, h('button', {
                type: 'button', disabled: cost.trim() === '' || parse(cost, 0) === null,
                onClick: () => onChange(truth, label, cost),
            }, 'Set this cost')),
            costs.size ? h('ul', {}, [...costs].map(([key, text]) => {
                const [i, j] = key.split(' ').map(Number);
                return h('li', {}, [`“${classes[i]}” labelled “${classes[j]}”: ${text} `,
                    h('button', {
                        type: 'button', class: 'quiet',
                        'aria-label': `Remove the cost of ${classes[i]} labelled ${classes[j]}`,
                        onClick: () => onChange(i, j, ''),
                    }, 'Remove')]);
            })) : null,
        ]);
    }
}

/* What the rule changes on the held-out rows. */
function Outcome({ model, outcome, on }) {
    const { all, changed, rejected, cost, plainCost, matrix, plain } = outcome;
    return h('div', { class: 'stack', role: 'status' }, [
        h('p', {}, `On ${count(Math.round(all))} ${on ? `rows of ${on}`
            : 'held-out rows'}: ${count(Math.round(changed))} ` +
            `get another label, ${count(Math.round(rejected))} (${percent(rejected / all)}) ` +
            'get none.'),
        h('div', { class: 'facts' }, [
            h(Fact, { value: cost, label: 'mean cost of a row' }),
            h(Fact, { value: plainCost, label: 'with the most probable class' }),
        ]),
        h(Confusion, {
            name: `${model.name}-${model.version}-costs`, before: plain,
            confusion: { classes: model.classes, matrix },
        }),
    ]);
}

/* model; rows: of loadHeldOut(), or null, of the dataset `on`; store: (rule) => stores it */
export class CostRule extends Component {
    constructor(props) {
        super(props);
        this.state = {
            costs: stored(props.model), reject: String(props.model.decision_rule?.reject ?? ''),
        };
    }

    set(i, j, text) {
        this.setState(({ costs }) => {
            const next = new Map(costs);
            if (text.trim() === '') {
                next.delete(`${i} ${j}`);
            } else {
                next.set(`${i} ${j}`, text);
            }
            return { costs: next };
        });
    }

    /* The rule; null: nothing is given, or something is wrong. */
    rule({ costs, reject }) {
        const { classes } = this.props.model;
        const limit = parse(reject, undefined);
        if (limit === null || [...costs.values()].some((text) => parse(text, 0) === null)) {
            return null;
        }
        const cost = Object.create(null); /* a class may be named __proto__ */
        for (const [key, text] of costs) {
            const [i, j] = key.split(' ').map(Number);
            cost[classes[i]] = { ...cost[classes[i]], [classes[j]]: Number(text) };
        }
        return costs.size === 0 && limit === undefined ? null : {
            ...(costs.size ? { cost } : {}), ...(limit === undefined ? {} : { reject: limit }),
        };
    }

    /* What the rule does on the rows; null: there are none, or too many to try at each key. */
    outcome({ costs, reject }) {
        const { rows, model: { classes } } = this.props;
        if (!rows || rows.n * rows.k * rows.k > MOST_STEPS) {
            return null;
        }
        const matrix = classes.map((_, i) => classes.map((__, j) =>
            parse(costs.get(`${i} ${j}`) ?? '', i === j ? 0 : 1) ?? 0));
        return tryCosts(rows, matrix, parse(reject, Infinity) ?? Infinity);
    }

    render({ model, on, store }, state) {
        const { classes } = model;
        const { costs, reject } = state;
        const rule = this.rule(state);
        const outcome = rule ? this.outcome(state) : null;
        const onChange = (i, j, text) => this.set(i, j, text);
        return h('section', { class: 'card stack', 'aria-labelledby': 'costs-title' }, [
            h('h2', { id: 'costs-title' }, 'Say what errors cost'),
            h('p', { class: 'minor' }, 'The label with the least expected cost is given: the ' +
                'cost of each error times its probability. Only the proportions of the costs ' +
                'matter. An error without a cost here costs 1.'),
            classes.length <= MOST_CELLS ? h('p', { class: 'minor' },
                'Rows: the true class. Columns: the label. Cells: what it costs.') : null,
            classes.length <= MOST_CELLS ? h(CostTable, { classes, costs, onChange })
                : h(CostPairs, { classes, costs, onChange }),
            h('div', { class: 'fields broad' }, h(NumberField, {
                label: 'Give no label above this expected cost', value: reject,
                hint: 'Empty: every row gets a label. Without costs it is 1 minus the greatest ' +
                    'probability: 0.1 labels only rows of which the model is 90 % sure.',
                error: parse(reject, 0) === null ? 'A number from 0 on, or nothing' : null,
                onInput: (text) => this.setState({ reject: text }),
            })),
            outcome ? h(Outcome, { model, outcome, on }) : null,
            h(StoreRule, { model, rule, store, label: 'Store these costs' }),
        ]);
    }
}
