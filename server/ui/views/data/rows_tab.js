/* The rows of a dataset. Only the rows that are seen are asked for and drawn: the height of the
 * box that scrolls stands for all rows. */
import { Component, h } from '../../base/preact.js';
import { get, path } from '../../base/api.js';
import { count } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { Dialog } from '../../parts/dialog.js';
import { NumberField } from '../../parts/fields.js';
import { Problem } from '../../parts/problem.js';
import { Pager, cellText } from './cells.js';
import { listed } from './settings.js';

const ROW = 33; /* px, as in the style sheet */
const BLOCK = 100; /* rows of a call */
const PAGE = 20; /* columns */
const MOST_BLOCKS = 30; /* in memory */
const TALLEST = 8000000; /* px: browsers draw nothing beyond a limit */
const EXTRA = 5; /* rows drawn above and below those that are seen */
const DETAIL = 200; /* columns in the dialog of a row */

/* The columns of the pages: a sparse dataset with very many features has no list of them. */
function columnNames({ columns, sparse }) {
    if (!sparse || columns.length > 1) {
        const last = columns[columns.length - 1];
        return last?.type === 'sparse' ? columns.slice(0, -1).map((c) => c.name)
            : columns.map((c) => c.name);
    }
    return columns.map((c) => c.name);
}

/* All values of a row. */
class RowDialog extends Component {
    constructor(props) {
        super(props);
        this.state = { row: null, error: null };
    }

    async componentDidMount() {
        const { dataset, number } = this.props;
        try {
            const answer = await get(path`/v1/datasets/${dataset.name}/rows`, {
                query: { version: dataset.version, offset: number, limit: 1 },
            });
            this.setState({ row: answer.items[0] || {} });
        } catch (error) {
            this.setState({ error });
        }
    }

    render({ number, onClose }, { row, error }) {
        const entries = Object.entries(row || {});
        return h(Dialog, { title: `Row ${count(number + 1)}`, onClose }, [
            error ? h(Problem, { error }) : null,
            row ? h('dl', { class: 'row-values', tabindex: '0' }, entries.slice(0, DETAIL)
                .flatMap(([name, value]) => [
                    h('dt', {}, name),
                    h('dd', {}, value === null ? cellText(null) : String(value).slice(0, 20000)),
                ])) : h('p', { class: 'loading' }, 'Loading the row …'),
            entries.length > DETAIL ? h('p', { class: 'minor' },
                `The first ${DETAIL} of ${count(entries.length)} columns are shown.`) : null,
            h('div', { class: 'buttons' },
                h('button', { type: 'button', onClick: onClose }, 'Close')),
        ]);
    }
}

export class RowsTab extends Component {
    constructor(props) {
        super(props);
        this.names = columnNames(props.dataset);
        this.blocks = new Map(); /* by first row: items, or null while they are loaded */
        this.abort = new AbortController();
        const offset = Math.max(Number.parseInt(props.query.offset, 10) || 0, 0);
        this.state = { top: offset, height: 600, error: null, open: null, jump: '' };
        this.scrolled = this.scrolled.bind(this);
    }

    /* ---- rows and pixels ---- */

    total() {
        return this.props.dataset.rows;
    }

    seen() {
        return Math.max(Math.floor((this.state.height - ROW) / ROW), 1);
    }

    /* The height that stands for all rows. */
    tall() {
        return Math.min((this.total() + 1) * ROW, TALLEST);
    }

    /* px of a row within it: less than its height if all rows would be too tall. */
    step() {
        const range = Math.max(this.total() - this.seen(), 1);
        return Math.min(Math.max(this.tall() - this.state.height, 1) / range, ROW);
    }

    componentDidMount() {
        this.observer = new ResizeObserver(([entry]) => {
            const { height } = entry.contentRect;
            if (Math.abs(height - this.state.height) > 1) {
                this.setState({ height }, () => this.scrollTo(this.state.top));
            }
        });
        this.observer.observe(this.box);
        this.setState({ height: this.box.clientHeight }, () => this.scrollTo(this.state.top));
        this.load();
    }

    componentDidUpdate() {
        this.load();
    }

    componentWillUnmount() {
        this.observer.disconnect();
        this.abort.abort();
        clearTimeout(this.timer);
    }

    scrollTo(row) {
        const top = Math.min(Math.max(row, 0), Math.max(this.total() - this.seen(), 0));
        this.box.scrollTop = top * this.step();
        this.place(top);
    }

    scrolled() {
        const top = Math.round(this.box.scrollTop / this.step());
        if (top !== this.state.top) {
            this.place(Math.min(top, Math.max(this.total() - 1, 0)));
        }
    }

    place(top) {
        this.setState({ top });
        clearTimeout(this.timer);
        this.timer = setTimeout(() => setQuery({ offset: top || '' }), 250);
    }

    /* ---- blocks ---- */

    firstColumn() {
        const first = Number.parseInt(this.props.query.first, 10) || 0;
        return first > 0 && first < this.names.length ? first : 0;
    }

    columns() {
        return this.names.slice(this.firstColumn(), this.firstColumn() + PAGE);
    }

    /* Asks for the blocks of the rows that are drawn. */
    load() {
        const columns = this.columns().map(listed).join(',');
        if (columns !== this.loaded) {
            this.loaded = columns;
            this.blocks.clear();
            this.abort.abort();
            this.abort = new AbortController();
        }
        const { from, to } = this.drawn();
        for (let first = from - from % BLOCK; first < to; first += BLOCK) {
            if (!this.blocks.has(first) && !this.state.error) {
                void this.loadBlock(first, columns, this.abort.signal);
            }
        }
    }

    async loadBlock(first, columns, signal) {
        const { name, version } = this.props.dataset;
        this.blocks.set(first, null);
        try {
            const { items } = await get(path`/v1/datasets/${name}/rows`, {
                query: { version, offset: first, limit: BLOCK, columns }, signal,
            });
            this.blocks.set(first, items);
            for (const old of this.blocks.keys()) {
                if (this.blocks.size <= MOST_BLOCKS) {
                    break;
                }
                this.blocks.delete(old);
            }
            this.setState({ error: null });
        } catch (error) {
            if (error.name !== 'AbortError') {
                this.blocks.delete(first);
                this.setState({ error });
            }
        }
    }

    drawn() {
        const { top } = this.state;
        return {
            from: Math.max(top - EXTRA, 0),
            to: Math.min(top + this.seen() + EXTRA + 1, this.total()),
        };
    }

    row(index) {
        return this.blocks.get(index - index % BLOCK)?.[index % BLOCK];
    }

    /* ---- drawing ---- */

    line(index, columns, numeric, absent) {
        const row = this.row(index);
        return h('tr', { key: index, 'aria-rowindex': index + 2 }, [
            h('th', { scope: 'row', class: 'numeric' }, h('button', {
                type: 'button', class: 'sort', 'aria-label': `Show all of row ${index + 1}`,
                onClick: () => this.setState({ open: index }),
            }, count(index + 1))),
            ...columns.map((name) => h('td', {
                class: numeric.has(name) ? 'cell numeric' : 'cell',
            }, row ? cellText(row[name], absent) : '…')),
        ]);
    }

    tools({ jump }) {
        const go = (event) => {
            event.preventDefault();
            const row = Number.parseInt(jump.replace(/[,\s]/g, ''), 10);
            if (row >= 1) {
                this.scrollTo(row - 1);
            }
        };
        return h('div', { class: 'row-tools' }, [
            h('form', { class: 'buttons', onSubmit: go }, [
                h(NumberField, {
                    label: 'Go to row', value: jump, placeholder: `1 to ${count(this.total())}`,
                    onInput: (text) => this.setState({ jump: text }),
                }),
                h('button', { type: 'submit' }, 'Go'),
            ]),
            h(Pager, {
                noun: 'column', first: this.firstColumn(), page: PAGE, total: this.names.length,
                onFirst: (first) => setQuery({ first: first || '' }),
            }),
        ]);
    }

    render({ dataset }, state) {
        if (dataset.rows === 0) {
            return h('p', { class: 'empty' }, 'This table has no rows.');
        }
        const { error, open } = state;
        const columns = this.columns();
        const numeric = new Set(dataset.columns.filter((c) => c.type === 'numeric')
            .map((c) => c.name));
        const absent = dataset.sparse ? 0 : null;
        const { from, to } = this.drawn();
        const above = Math.max(state.top * this.step() - (state.top - from) * ROW, 0);
        const below = Math.max(this.tall() - above - (to - from + 1) * ROW, 0);
        const indices = Array.from({ length: to - from }, (_, i) => from + i);
        return h('section', { class: 'stack', 'aria-label': 'Rows' }, [
            this.tools(state),
            error ? h(Problem, { error, retry: () => this.setState({ error: null }) }) : null,
            h('div', {
                class: 'table-scroll rows', tabindex: '0', role: 'group', 'aria-label': 'Rows',
                ref: (box) => { this.box = box; }, onScroll: this.scrolled,
            }, h('table', {
                class: 'data', 'aria-rowcount': dataset.rows + 1,
            }, [
                h('caption', { class: 'hidden' }, 'Rows'),
                h('thead', {}, h('tr', { 'aria-rowindex': 1 }, [
                    h('th', { scope: 'col', class: 'numeric' }, 'Row'),
                    ...columns.map((name) => h('th', {
                        scope: 'col', class: numeric.has(name) ? 'cell numeric' : 'cell',
                        title: name,
                    }, name)),
                ])),
                h('tbody', { 'aria-hidden': 'true' },
                    h('tr', {}, h('td', { class: 'spacer', style: { height: `${above}px` } }))),
                h('tbody', {}, indices.map((i) => this.line(i, columns, numeric, absent))),
                h('tbody', { 'aria-hidden': 'true' },
                    h('tr', {}, h('td', { class: 'spacer', style: { height: `${below}px` } }))),
            ])),
            h('p', { class: 'minor', 'aria-live': 'polite' },
                `Rows ${count(Math.min(state.top + 1, dataset.rows))}–` +
                `${count(Math.min(state.top + this.seen(), dataset.rows))} of ` +
                `${count(dataset.rows)}`),
            open !== null ? h(RowDialog, {
                dataset, number: open, onClose: () => this.setState({ open: null }),
            }) : null,
        ]);
    }
}
