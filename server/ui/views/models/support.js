/* The support vectors of a support vector machine: the training rows that hold the boundary. */
import { Component, h } from '../../base/preact.js';
import { get } from '../../base/api.js';
import { count, number } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Fact } from '../../parts/fact.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { DataTable } from '../../parts/table.js';
import { versionPath } from '../../base/version_path.js';
import { discriminantName } from './weights.js';

const MOST_ROWS = 500;
const ROUNDING = 1e-9; /* a smaller slack is that of rounding */

/* The rows of a machine, those with the greatest influence first. */
function rowsOf(machine) {
    return machine.rows.map((row, i) => ({
        row, alpha: machine.alpha[i], coefficient: machine.coefficients[i],
        slack: machine.slack[i] < ROUNDING ? 0 : machine.slack[i], margin: machine.margin[i],
    })).sort((a, b) => b.alpha - a.alpha);
}

function place({ slack, margin }, outliers) {
    if (outliers) {
        return margin === 'on' ? 'on the surface' : 'outside: an outlier';
    }
    return margin === 'on' ? 'on the margin'
        : slack > 1 ? 'on the wrong side' : 'inside the margin';
}

/* What a positive and a negative score of a machine speak for. all: the classes of the model. */
function sidesOf({ positive, class: one, classes }, all) {
    const other = (classes || (all.length === 2 ? all : [])).find((c) => c !== (positive ?? one));
    return [`“${positive ?? one}”`, other === undefined ? 'the others' : `“${other}”`];
}

function columns(model, outliers, machine) {
    const { dataset } = model;
    const [plus, minus] = sidesOf(machine, model.classes || []);
    return [
        { name: 'row', label: 'Row', value: (v) => v.row, cell: (v) => (dataset ? h('a', {
            class: 'nowrap', href: link(['data', dataset.name],
                { tab: 'rows', version: dataset.version, offset: v.row }),
        }, `Row ${count(v.row)}`) : count(v.row)) },
        { name: 'alpha', label: 'Influence α', numeric: true, cell: (v) => number(v.alpha) },
        { name: 'coefficient', label: 'Pulls towards', value: (v) => v.coefficient,
            cell: (v) => (v.coefficient > 0 ? plus : minus) },
        { name: 'slack', label: 'Slack', numeric: true, cell: (v) => number(v.slack) },
        { name: 'place', label: 'Where it lies', value: (v) => place(v, outliers) },
    ].filter((c) => !outliers || c.name !== 'coefficient');
}

class Machine extends Component {
    constructor(props) {
        super(props);
        this.state = { chosen: 0 };
    }

    rows(i) {
        if (this.by !== i) {
            this.by = i;
            this.list = rowsOf(this.props.support.machines[i]);
        }
        return this.list;
    }

    render({ model, support }, { chosen }) {
        const rows = this.rows(chosen);
        const outliers = model.target === null;
        const on = rows.filter((v) => v.margin === 'on').length;
        const wrong = rows.filter((v) => v.slack > 1).length;
        return h('div', { class: 'stack' }, [
            support.machines.length > 1 ? h('div', { class: 'fields broad' }, h(Choice, {
                label: 'Classes', value: chosen,
                options: support.machines.slice(0, 1000).map((m, i) => ({
                    value: i, label: discriminantName(m, model.classes) })),
                onChange: (value) => this.setState({ chosen: Number(value) }),
            })) : null,
            h('div', { class: 'facts' }, [
                h(Fact, { label: `of ${count(model.rows.train)} training rows are support vectors`,
                    value: rows.length }),
                h(Fact, { label: outliers ? 'on the surface' : 'on the margin', value: on }),
                h(Fact, { label: outliers ? 'outliers' : 'inside it', value: rows.length - on }),
                outliers ? null : h(Fact, { label: 'on the wrong side', value: wrong }),
            ]),
            h(DataTable, {
                caption: 'Support vectors', rows: rows.slice(0, MOST_ROWS),
                columns: columns(model, outliers, support.machines[chosen]),
            }),
            rows.length > MOST_ROWS ? h('p', { class: 'minor' },
                `The ${MOST_ROWS} with the greatest influence of ${count(rows.length)}.`) : null,
        ]);
    }
}

export function Support({ model }) {
    return h('section', { class: 'card stack', 'aria-labelledby': 'support-title' }, [
        h('h2', { id: 'support-title' }, 'Support vectors'),
        h('p', { class: 'minor' }, `The boundary is determined by these rows alone; without the ` +
            `others it would be the same. ${model.target === null
                ? 'Slack: how far outside a row is; 0 on the surface.'
                : 'Slack: how far a row is on the wrong side of its margin; 0 on the margin, ' +
                    'above 1 the label is wrong.'}`),
        h(Loaded, {
            of: [model.name, model.version], what: 'the support vectors',
            load: (signal) => get(`${versionPath(model)}/weights`,
                { query: { support_vectors: true, matrices: false }, signal }),
            show: ({ support }) => (support.available ? h(Machine, { model, support })
                : h('p', {}, `There are none to show: ${support.message}`)),
        }),
    ]);
}
