/* The list of all models, ordered by name or by a metric of the live versions. */
import { Component, h } from '../../base/preact.js';
import { list } from '../../base/api.js';
import { count, time } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from '../../parts/expiring.js';
import { Choice, TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { METRICS, metricLabel, metricSpread, metricText, metricValue } from
    '../../parts/metrics.js';
import { DataTable } from '../../parts/table.js';
import { loadMethods, methodTitle } from './methods.js';
import { shortSource } from './origin.js';

const MOST = 1000;
const ORDERS = ['accuracy', 'balanced_accuracy', 'macro.f1', 'roc_auc', 'average_precision', 'mcc',
    'log_loss', 'brier', 'ece'];

async function load(order, signal) {
    const sign = METRICS[order]?.low ? '' : '-';
    const sort = order ? `${sign}metrics.validation.${order}` : undefined;
    const [models] = await Promise.all([
        list('/v1/models', { query: { sort, expires: expiresQuery() }, most: MOST, signal }),
        loadMethods(signal),
    ]);
    return { models, hidden: await countHidden('/v1/models', models, signal) };
}

/* The metric of a model with its interval and with the rows that it comes from. */
function Figure({ model, name }) {
    const metrics = model.metrics?.validation || model.metrics?.train;
    const value = metricValue(metrics, name);
    if (typeof value !== 'number') {
        return h('span', { class: 'minor' }, '–');
    }
    const interval = metricSpread(metrics, name);
    return h('span', { class: 'nowrap' }, [
        h('strong', {}, metricText(name, value)),
        interval ? h('span', { class: 'minor' }, ` ${interval}`) : null,
        h('br'),
        h('span', { class: 'minor' }, shortSource(model)),
    ]);
}

function Name({ model }) {
    return h('span', { class: 'model-name' }, [
        h('a', { href: link(['models', model.name]) }, model.name),
        model.expires_at ? h('span', { class: 'minor', title: `Deleted on ${
            time(model.expires_at)}` }, ' expires') : null,
        model.tags.length ? h('span', { class: 'tags' },
            model.tags.slice(0, 4).map((tag) => h(Badge, { text: tag }))) : null,
        model.description ? h('span', { class: 'minor clipped', title: model.description },
            model.description) : null,
    ]);
}

function columns(order) {
    const shown = order || 'accuracy';
    return [
        { name: 'name', label: 'Model', cell: (m) => h(Name, { model: m }) },
        { name: 'metric', label: metricLabel(shown), cell: (m) => h(Figure, { model: m,
            name: shown }), value: (m) => metricValue(m.metrics?.validation || m.metrics?.train,
            shown) },
        { name: 'algorithm', label: 'Method', value: (m) => methodTitle(m.algorithm) },
        { name: 'target', label: 'Predicts', cell: (m) => h('span', {}, [
            m.target === null ? 'outliers' : m.target,
            m.n_classes && m.target !== null
                ? h('span', { class: 'minor nowrap' }, ` ${count(m.n_classes)} classes`)
                : null,
        ]) },
        { name: 'live_version', label: 'Live version', numeric: true, cell: (m) => h('span', {}, [
            String(m.live_version),
            m.newest_version > m.live_version
                ? h('span', { class: 'minor' }, ` (newest: ${m.newest_version})`) : null,
        ]) },
        { name: 'dataset', label: 'Trained on', value: (m) => m.dataset?.name,
            cell: (m) => (m.dataset ? h('a', { href: link(['data', m.dataset.name]) },
                m.dataset.name) : '–') },
        { name: 'created_at', label: 'Trained', cell: (m) => h('span', { class: 'nowrap' },
            time(m.created_at)) },
        { name: 'use', label: 'Use', sort: false, cell: (m) => h('a', {
            class: 'nowrap', href: link(['try', m.name]), 'aria-label': `Try it: ${m.name}`,
        }, 'Try it') },
    ];
}

function Empty() {
    return h('div', { class: 'empty' }, [
        h('p', {}, 'There are no models yet. A model learns from a table to predict one of its ' +
            'columns.'),
        h('p', {}, h('a', { class: 'button primary', href: link(['train']) }, 'Train a model')),
        h('p', {}, ['No table here yet? ', h('a', { href: link(['data']) }, 'Add data first')]),
    ]);
}

export class ModelList extends Component {
    constructor(props) {
        super(props);
        this.state = { find: '' };
    }

    table(models, order, find) {
        const words = find.trim().toLowerCase();
        const found = models.filter((m) => [m.name, m.description || '', m.target || '',
            methodTitle(m.algorithm), ...m.tags].join('\n').toLowerCase().includes(words));
        return h('div', { class: 'stack' }, [
            h('p', { class: 'minor', role: 'status' }, [
                words ? `${count(found.length)} of ${count(models.length)} models. `
                    : `${count(models.length)} ${models.length === 1 ? 'model' : 'models'}. `,
                models.length === MOST ? `Only the first ${count(MOST)} are listed. ` : '',
                `${metricLabel(order || 'accuracy')}: ${METRICS[order || 'accuracy'].text}. `,
                'Figures of rows that were held out are honest; those of training rows are too ' +
                    'good.',
            ]),
            h(DataTable, {
                key: order, caption: 'Models', columns: columns(order), rows: found, most: MOST,
            }),
        ]);
    }

    render({ query }, { find }) {
        const order = ORDERS.includes(query.order) ? query.order : '';
        return h('section', { class: 'stack', 'aria-labelledby': 'models-title' }, [
            h('div', { class: 'head' }, [
                h('h1', { id: 'models-title' }, 'Models'),
                h('a', { class: 'button', href: link(['train']) }, 'Train a model'),
            ]),
            h(ExpiringCheck),
            h(Loaded, {
                of: [order, expiresQuery()], kinds: ['models'], what: 'the models',
                load: (signal) => load(order, signal),
                show: ({ models, hidden }) => (models.length === 0
                    ? hidden > 0 ? h(OnlyExpiring, { n: hidden, noun: 'model' }) : h(Empty)
                    : h('div', { class: 'stack' }, [
                    h('div', { class: 'fields' }, [
                        h(Choice, {
                            label: 'Order', value: order,
                            options: [{ value: '', label: 'By name' }, ...ORDERS.map((name) => ({
                                value: name, label: `${metricLabel(name)}, best first` }))],
                            onChange: (value) => setQuery({ order: value }),
                        }),
                        h(TextField, {
                            label: 'Find', type: 'search', value: find,
                            placeholder: 'name, tag, method …',
                            onInput: (text) => this.setState({ find: text }),
                        }),
                    ]),
                    this.table(models, order, find),
                ])),
            }),
        ]);
    }
}
