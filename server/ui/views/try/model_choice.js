/* The models that can be tried. */
import { Component, h } from '../../base/preact.js';
import { get } from '../../base/api.js';
import { methodTitles } from '../../base/catalogue.js';
import { count, time } from '../../base/format.js';
import { go, link } from '../../base/place.js';
import { lacks, loadRights } from '../../base/rights.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from '../../parts/expiring.js';
import { TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { DataTable } from '../../parts/table.js';

const MOST = 1000;
const FIELDS = 'name,version,algorithm,target,created_at,dataset';

function Empty() {
    return h('div', { class: 'empty' }, [
        h('p', {}, 'There are no models yet. Train one, then try it here.'),
        h('a', { class: 'button primary', href: link(['train']) }, 'Train a model'),
    ]);
}

const columnsOf = (titles) => [
    {
        name: 'name', label: 'Model',
        cell: ({ name }) => h('span', { class: 'model-name' },
            h('a', { href: link(['try', name]) }, `Try ${name}`)),
    },
    { name: 'target', label: 'Predicts', cell: ({ target }) => target || 'outliers' },
    {
        name: 'algorithm', label: 'Method',
        cell: ({ algorithm }) => titles[algorithm] || algorithm,
    },
    { name: 'data', label: 'Trained on', value: ({ dataset }) => dataset?.name },
    { name: 'version', label: 'Live version', numeric: true, cell: (m) => count(m.version) },
    {
        name: 'created_at', label: 'Trained',
        cell: (model) => h('span', { class: 'nowrap' }, time(model.created_at)),
    },
];

/* For a token that may predict and not list models. */
class ModelName extends Component {
    constructor(props) {
        super(props);
        this.state = { name: '' };
    }

    render(props, { name }) {
        const open = (event) => {
            event.preventDefault();
            go(['try', name.trim()]);
        };
        return h('form', { class: 'stack', onSubmit: open }, [
            h(TextField, {
                label: 'Name of the model', value: name, required: true,
                hint: 'This token may predict and not list models.',
                onInput: (text) => this.setState({ name: text }),
            }),
            h('div', { class: 'buttons' },
                h('button', { type: 'submit', class: 'primary' }, 'Try this model')),
        ]);
    }
}

export function ModelChoice() {
    return h('section', { class: 'stack' }, [
        h('h1', {}, 'Try it'),
        h('p', {}, 'Choose a model. You fill in the values of one row, or give a file, and see ' +
            'what the model answers and why.'),
        h(ExpiringCheck),
        h(Loaded, {
            what: 'the models', kinds: ['models'], of: expiresQuery(),
            load: async (signal) => {
                await loadRights();
                if (lacks('read')) {
                    return { items: null };
                }
                const query = { fields: FIELDS, limit: MOST, expires: expiresQuery() };
                const { items } = await get('/v1/models', { query, signal });
                return {
                    items, titles: await methodTitles(),
                    hidden: await countHidden('/v1/models', items, signal),
                };
            },
            show: ({ items, titles, hidden }) => (items === null ? h(ModelName)
                : hidden > 0 ? h(OnlyExpiring, { n: hidden, noun: 'model' })
                : items.length === 0 ? h(Empty) : h(DataTable, {
                caption: 'Models', columns: columnsOf(titles), rows: items, most: MOST,
            })),
        }),
    ]);
}
