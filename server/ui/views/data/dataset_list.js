/* The list of datasets, and the place where one is added. */
import { h } from '../../base/preact.js';
import { list } from '../../base/api.js';
import { bytes, count, time } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from '../../parts/expiring.js';
import { TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { DataTable } from '../../parts/table.js';
import { AddData } from './draft_view.js';

const FIELDS = 'name,version,rows,n_columns,bytes,created_at,description,tags';
const FEW = 8; /* tables below which there is no search */
const MOST = 10000;

const COLUMNS = [
    {
        name: 'name', label: 'Name',
        cell: ({ name, description }) => h('span', {}, [
            h('a', { href: link(['data', name]) }, name),
            description ? h('span', { class: 'minor described' }, description) : null,
        ]),
    },
    { name: 'rows', label: 'Rows', numeric: true, cell: (d) => count(d.rows) },
    { name: 'n_columns', label: 'Columns', numeric: true, cell: (d) => count(d.n_columns) },
    { name: 'bytes', label: 'Size', numeric: true, cell: (d) => bytes(d.bytes) },
    {
        name: 'version', label: 'Version', numeric: true,
        cell: (d) => h('a', {
            href: link(['data', d.name], { tab: 'versions' }),
            'aria-label': `Versions of ${d.name}: ${d.version}`,
        }, count(d.version)),
    },
    {
        name: 'tags', label: 'Tags', value: (d) => d.tags.join(' '),
        cell: (d) => h('span', { class: 'tags' }, d.tags.map((tag) => h('a', {
            class: 'badge', href: link(['data'], { find: tag }),
        }, tag))),
    },
    {
        name: 'created_at', label: 'Changed',
        cell: (d) => h('span', { class: 'nowrap' }, time(d.created_at)),
    },
    {
        name: 'next', label: 'Next', sort: false,
        cell: (d) => h('a', {
            href: link(['train'], { dataset: d.name }), class: 'nowrap',
            'aria-label': `Train a model with ${d.name}`,
        }, 'Train a model'),
    },
];

function matches({ name, description, tags }, words) {
    const text = [name, description || '', ...tags].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
}

function Tables({ items, find = '' }) {
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length ? items.filter((item) => matches(item, words)) : items;
    return h('div', { class: 'stack' }, [
        items.length > FEW || find ? h(TextField, {
            label: 'Find a table', type: 'search', value: find,
            placeholder: 'name, description or tag',
            onInput: (value) => setQuery({ find: value }),
        }) : null,
        rows.length ? h(DataTable, { caption: 'Datasets', columns: COLUMNS, rows })
            : h('p', { class: 'empty' }, `No table has “${find}” in its name or description.`),
    ]);
}

export function DatasetList({ query }) {
    return h('section', { class: 'stack', 'aria-label': 'Data' }, [
        h('div', {}, [
            h('h1', {}, 'Data'),
            h('p', { class: 'minor' }, 'A table with a row for each case and a column for each ' +
                'thing you know about it. One column is what shall be predicted.'),
        ]),
        h(AddData, { target: null, label: 'Drop a table here, or choose a file' },
            h('section', { 'aria-label': 'Your tables' }, [
                h('div', { class: 'head' }, [h('h2', {}, 'Your tables'), h(ExpiringCheck)]),
                h(Loaded, {
                    what: 'the tables', kinds: ['datasets'], of: expiresQuery(),
                    load: async (signal) => {
                        const items = await list('/v1/datasets', {
                            query: { fields: FIELDS, expires: expiresQuery() }, most: MOST, signal,
                        });
                        return { items, hidden: await countHidden('/v1/datasets', items, signal) };
                    },
                    show: ({ items, hidden }) => (items.length
                        ? h(Tables, { items, find: query.find })
                        : hidden > 0 ? h(OnlyExpiring, { n: hidden, noun: 'table' })
                        : h('p', { class: 'empty' }, 'There are no tables yet. Drop a file ' +
                            'above: you see what it becomes before it is stored.')),
                }),
            ])),
    ]);
}
