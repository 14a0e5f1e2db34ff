/* The columns of a dataset: a list with search and order, and one column in detail. */
import { h } from '../../base/preact.js';
import { count, number, percent } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { Choice, TextField } from '../../parts/fields.js';
import { Pager } from './cells.js';
import { ColumnDetail } from './column_detail.js';
import { flags, rangeText, topText } from './column_text.js';

const PAGE = 25;
const FEW = 8; /* columns below which there is neither search nor order */

const ORDERS = {
    '': ['as in the table', null],
    name: ['by name', (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true })],
    type: ['by type', (a, b) => a.type.localeCompare(b.type)],
    missing: ['most missing first', (a, b) => b.missing - a.missing],
    distinct: ['fewest different values first',
        (a, b) => (a.distinct ?? 1e18) - (b.distinct ?? 1e18)],
    mean: ['greatest mean first', (a, b) => (b.mean ?? -1e308) - (a.mean ?? -1e308)],
    std: ['most spread first', (a, b) => (b.std ?? -1) - (a.std ?? -1)],
};

/* The histogram in miniature; its numbers are in the detail of the column. */
function Spark({ counts, label }) {
    const most = Math.max(...counts, 1);
    const width = 120 / counts.length;
    return h('svg', {
        class: 'spark', viewBox: '0 0 120 28', width: 120, height: 28, role: 'img',
        'aria-label': label,
    }, counts.map((n, i) => h('rect', {
        x: i * width + 0.5, width: Math.max(width - 1, 1),
        y: 28 - Math.max(28 * n / most, n ? 1 : 0), height: Math.max(28 * n / most, n ? 1 : 0),
    })));
}

function Values({ column, rows }) {
    const { histogram, top } = column;
    if (histogram) {
        return h(Spark, { counts: histogram.counts, label: `Histogram, ${rangeText(column)}` });
    }
    if (top && top.length) {
        return h('span', { class: 'top-values' }, topText(column, rows));
    }
    if (column.words !== undefined) {
        return h('span', { class: 'minor' }, 
            `about ${count(Math.min(column.distinct_words, column.words))} different words`);
    }
    return column.form ? h('span', { class: 'minor' }, column.form) : null;
}

function Row({ column, rows, name, query }) {
    const numeric = column.type === 'numeric';
    return h('tr', {}, [
        h('th', { scope: 'row' }, [
            h('a', {
                href: link(['data', name], { ...query, column: column.name }), class: 'column-name',
            }, column.name),
            ...flags(column, rows).map(([text, hint]) => h('span', { title: hint },
                [' ', h(Badge, { text, kind: 'warn' })])),
        ]),
        h('td', {}, column.type),
        h('td', {}, h(Values, { column, rows })),
        h('td', { class: 'numeric' }, column.missing ? percent(column.missing / rows) : '0'),
        h('td', { class: 'numeric' },
            (column.distinct_estimated ? '≈ ' : '') + count(column.distinct)),
        h('td', { class: 'numeric nowrap' }, numeric ? number(column.min, 5) : column.min || '–'),
        h('td', { class: 'numeric' }, numeric ? number(column.mean, 5) : '–'),
        h('td', { class: 'numeric nowrap' }, numeric ? number(column.max, 5) : column.max || '–'),
    ]);
}

const HEADS = [['Column'], ['Type'], ['Values'], ['Missing', 1], ['Different', 1], ['Smallest', 1],
    ['Mean', 1], ['Largest', 1]];

function Tools({ query, columns }) {
    return columns.length <= FEW ? null : h('div', { class: 'fields' }, [
        h(TextField, {
            label: 'Find a column', type: 'search', value: query.find || '',
            placeholder: 'name or type',
            onInput: (find) => setQuery({ find, first: '' }),
        }),
        h(Choice, {
            label: 'Order', value: query.order || '',
            options: Object.entries(ORDERS).map(([value, [label]]) => ({ value, label })),
            onChange: (order) => setQuery({ order, first: '' }),
        }),
    ]);
}

export function ColumnsTab({ dataset, query }) {
    const { columns, rows, name } = dataset;
    if (query.column !== undefined) {
        return h(ColumnDetail, { dataset, query });
    }
    const words = (query.find || '').toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length === 0 ? columns : columns.filter((column) =>
        words.every((word) => column.name.toLowerCase().includes(word) || column.type === word));
    const order = ORDERS[query.order]?.[1];
    const sorted = order ? [...found].sort(order) : found;
    const wanted = Number.parseInt(query.first, 10) || 0;
    const first = wanted > 0 && wanted < sorted.length ? wanted : 0;
    return h('section', { class: 'stack', 'aria-label': 'Columns' }, [
        h(Tools, { query, columns }),
        h(Pager, {
            noun: 'column', first, page: PAGE, total: sorted.length,
            onFirst: (value) => setQuery({ first: value || '' }),
        }),
        sorted.length === 0 ? h('p', { class: 'empty' }, `No column matches “${query.find}”.`)
            : h('div', {
                class: 'table-scroll tall', tabindex: '0', role: 'group', 'aria-label': 'Columns',
            }, h('table', { class: 'data columns-table' }, [
                h('caption', { class: 'hidden' }, 'Columns'),
                h('thead', {}, h('tr', {}, HEADS.map(([label, right]) => h('th', {
                    scope: 'col', class: right ? 'numeric' : null,
                }, label)))),
                h('tbody', {}, sorted.slice(first, first + PAGE).map((column) => h(Row, {
                    key: column.name, column, rows, name, query,
                }))),
            ])),
    ]);
}
