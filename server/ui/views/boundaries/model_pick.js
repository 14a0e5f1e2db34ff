/* The choice of the model whose boundaries are drawn. */
import { Component, h } from '../../base/preact.js';
import { list } from '../../base/api.js';
import { methodTitles } from '../../base/catalogue.js';
import { time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from '../../parts/expiring.js';
import { TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { DataTable } from '../../parts/table.js';

const MOST = 1000;
const FEW = 12; /* models that need no search */

class ModelTable extends Component {
    constructor(props) {
        super(props);
        this.state = { wanted: '' };
    }

    render({ models, titles }, { wanted }) {
        const text = wanted.trim().toLowerCase();
        const shown = models.filter(({ name }) => name.toLowerCase().includes(text));
        return h('div', { class: 'stack' }, [
            models.length > FEW ? h('div', { class: 'fields' }, h(TextField, {
                label: 'Find a model', type: 'search', value: wanted,
                onInput: (value) => this.setState({ wanted: value }),
            })) : null,
            shown.length ? h(DataTable, {
                caption: 'Models', rows: shown,
                columns: [
                    { name: 'name', label: 'Model',
                        cell: ({ name }) => h('a', { href: link(['boundaries', name]) }, name) },
                    { name: 'method', label: 'Method',
                        value: ({ algorithm }) => titles[algorithm] || algorithm },
                    { name: 'created_at', label: 'Trained',
                        cell: ({ created_at: at }) => h('span', { class: 'nowrap' }, time(at)) },
                ],
            }) : h('p', { class: 'empty', role: 'status' }, 'No model has this name.'),
        ]);
    }
}

export function ModelPick() {
    return h('section', { class: 'stack', 'aria-labelledby': 'boundaries-title' }, [
        h('div', {}, [
            h('h1', { id: 'boundaries-title' }, 'Boundaries'),
            h('p', {}, 'See what a model answers over two of its columns: which class it gives ' +
                'where, how sure it is, and where your rows lie. Choose a model.'),
        ]),
        h(ExpiringCheck),
        h(Loaded, {
            of: expiresQuery(), kinds: ['models'], what: 'the models',
            load: async (signal) => {
                const models = await list('/v1/models', {
                    query: { fields: 'name,algorithm,created_at', expires: expiresQuery() },
                    most: MOST, signal,
                });
                return {
                    models, titles: await methodTitles(),
                    hidden: await countHidden('/v1/models', models, signal),
                };
            },
            show: ({ models, titles, hidden }) => (models.length
                ? h(ModelTable, { models, titles })
                : hidden > 0 ? h(OnlyExpiring, { n: hidden, noun: 'model' })
                : h('div', { class: 'empty' }, [
                    h('p', {}, 'There are no models yet. Boundaries are drawn of a trained model.'),
                    h('div', { class: 'buttons centred' }, [
                        h('a', { class: 'button primary', href: link(['train']) },
                            'Train a model'),
                        h('a', { class: 'button', href: link(['playground']) },
                            'Open the playground'),
                    ]),
                ])),
        }),
    ]);
}
