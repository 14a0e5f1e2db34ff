/* A table of data that can be sorted by its columns, in a box that scrolls by itself. */
import { Component, h } from '../base/preact.js';
import { count } from '../base/format.js';

const isAbsent = (value) => value === null || value === undefined || Number.isNaN(value);

/* The order of two sort keys; absent ones are last, also if down. */
function compare(a, b, down) {
    if (isAbsent(a) || isAbsent(b)) {
        return Number(isAbsent(a)) - Number(isAbsent(b));
    }
    const order = typeof a === 'number' && typeof b === 'number' ? a - b
        : String(a).localeCompare(String(b), 'en', { numeric: true });
    return down ? -order : order;
}

const valueOf = (column, row) => (column.value ? column.value(row) : row[column.name]);

/*   caption  text, read by screen readers; shown if showCaption
 *   columns  [{name, label, numeric, value: (row) => sort key, cell: (row) => node}]; without
 *            `value` it is row[name], without `cell` the value
 *   rows     [any]
 *   sort     false: columns cannot be sorted
 *   most     number of rows that are shown at most (200); a note says how many there are
 *   rowClass (row) => class names
 *   stacks   true: in a narrow window the cells of a row stand below each other, with the labels of
 *            their columns; these are texts then
 */
export class DataTable extends Component {
    constructor(props) {
        super(props);
        this.state = { by: null, down: false };
    }

    sortBy(name) {
        this.setState(({ by, down }) => ({ by: name, down: by === name ? !down : false }));
    }

    /* A table that is laid out by blocks keeps its meaning by roles. */
    role(name) {
        return this.props.stacks ? name : null;
    }

    cell(column, row, isHead) {
        return h(isHead ? 'th' : 'td', {
            scope: isHead ? 'row' : null, class: column.numeric ? 'numeric' : null,
            role: this.role(isHead ? 'rowheader' : 'cell'),
            'data-label': this.role(column.label),
        }, column.cell ? column.cell(row) : valueOf(column, row));
    }

    heading(column, { by, down }) {
        const sorted = by === column.name;
        const state = sorted ? (down ? 'descending' : 'ascending') : null;
        const kind = column.numeric ? 'numeric' : null;
        const role = this.role('columnheader');
        if (this.props.sort === false || column.sort === false) {
            return h('th', { scope: 'col', class: kind, role }, column.label);
        }
        return h('th', { scope: 'col', class: kind, role, 'aria-sort': state },
            h('button', {
                type: 'button', class: 'sort', onClick: () => this.sortBy(column.name),
            }, [
                column.label,
                h('span', { class: 'arrow', 'aria-hidden': 'true' },
                    sorted ? (down ? ' ↓' : ' ↑') : ''),
            ]));
    }

    render({ caption, showCaption, columns, rows, most = 200, rowClass = () => null, stacks },
        state) {
        const column = columns.find((c) => c.name === state.by);
        const sorted = column ? [...rows].sort((a, b) =>
            compare(valueOf(column, a), valueOf(column, b), state.down)) : rows;
        const shown = sorted.slice(0, most);
        const role = (name) => ({ role: this.role(name) });
        return h('div', { class: 'table-box' }, [
            h('div', {
                class: 'table-scroll', tabindex: '0', role: 'group', 'aria-label': caption,
            },
                h('table', { class: `data${stacks ? ' stacks' : ''}`, ...role('table') }, [
                    h('caption', { class: showCaption ? null : 'hidden' }, caption),
                    h('thead', role('rowgroup'), h('tr', role('row'),
                        columns.map((c) => this.heading(c, state)))),
                    h('tbody', role('rowgroup'), shown.map((row) =>
                        h('tr', { class: rowClass(row), ...role('row') }, columns.map((c, i) =>
                            this.cell(c, row, i === 0 && c.header !== false))))),
                ])),
            rows.length > most ? h('p', { class: 'minor' },
                `The first ${count(most)} of ${count(rows.length)} rows are shown.`) : null,
        ]);
    }
}
