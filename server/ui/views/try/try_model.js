/* One model: loads what the form needs. */
import { Component, h } from '../../base/preact.js';
import { get, path } from '../../base/api.js';
import { link } from '../../base/place.js';
import { loadRights, lacks } from '../../base/rights.js';
import { MODEL_FIELDS } from '../../base/version_path.js';
import { Badge } from '../../parts/badge.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { columnWeights } from './column_weights.js';
import { PredictFile } from './predict_file.js';
import { fieldsOf, textOf } from './row_fields.js';
import { TryRow } from './try_row.js';

const MOST_FIELDS = 30; /* more are sorted by importance */
const MOST_VERSIONS = 200;

/* Resolves to null if the call fails: the form does without. */
async function optional(promise, signal) {
    try {
        return await promise;
    } catch (error) {
        if (signal.aborted) {
            throw error;
        }
        return null;
    }
}

/* The first row of the training table, for columns without a typical value: texts, above all. */
async function addSamples(fields, dataset, signal) {
    if (!dataset || !fields.some(({ kind }) => ['text', 'date', 'sparse'].includes(kind))) {
        return;
    }
    const query = { version: dataset.version, limit: 1 };
    const page = await optional(get(path`/v1/datasets/${dataset.name}/rows`, { query, signal }),
        signal);
    for (const field of fields) {
        if (page?.items?.length && field.typical === '') {
            field.typical = textOf(field, page.items[0]);
        }
    }
}

async function load(name, version, signal) {
    const where = version ? path`/v1/models/${name}/versions/${version}` : path`/v1/models/${name}`;
    await loadRights();
    if (lacks('read')) {
        const model = await get(`${where}/schema`, { signal });
        return { where, model, dataset: null, fields: fieldsOf(model, null), versions: [] };
    }
    const model = await get(where, { query: { fields: MODEL_FIELDS }, signal });
    const table = model.dataset;
    const [dataset, versions] = await Promise.all([
        table ? optional(get(path`/v1/datasets/${table.name}`,
            { query: { version: table.version }, signal }), signal) : null,
        optional(get(path`/v1/models/${name}/versions`,
            { query: { fields: 'version,live', limit: MOST_VERSIONS }, signal }), signal),
    ]);
    let fields = fieldsOf(model, dataset);
    await addSamples(fields, dataset, signal);
    if (fields.length > MOST_FIELDS) {
        const weight = await optional(columnWeights(where, model, dataset, signal), signal);
        if (weight) {
            fields = [...fields].sort((a, b) => (weight(b.name) || 0) - (weight(a.name) || 0));
        }
    }
    return { where, model, dataset, fields, versions: versions?.items || [] };
}

/* The choice of the version. No choice in the URL: the live one. */
function Versions({ name, model, versions, chosen }) {
    const options = [
        { value: '', label: `The live version (${model.live_version})` },
        ...versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` })),
    ];
    return h(Choice, {
        label: 'Version', value: chosen || '', options,
        onChange: (version) => { location.hash = link(['try', name], { version }); },
    });
}

export class TryModel extends Component {
    show(data) {
        const { name, query } = this.props;
        const { where, model, versions } = data;
        return h('div', { class: 'stack' }, [
            h('div', { class: 'head' }, [
                versions.length > 1 ? h(Versions, { name, model, versions, chosen: query.version })
                    : h(Badge, {
                        text: `version ${model.version}, ${model.live ? 'live' : 'not live'}`,
                        kind: model.live ? 'good' : 'idle',
                    }),
                lacks('read') ? null : h('div', { class: 'buttons' }, [
                    h('a', {
                        class: 'button',
                        href: link(['models', name], { version: query.version }),
                    }, 'Open the model'),
                    h('a', {
                        class: 'button',
                        href: link(['boundaries', name], { version: query.version }),
                    }, 'See its boundaries'),
                ]),
            ]),
            h(TryRow, { ...data, query }),
            h(PredictFile, { where, model }),
        ]);
    }

    render({ name, query }) {
        return h('section', { class: 'stack' }, [
            h('h1', {}, `Try ${name}`),
            h(Loaded, {
                what: 'the model', home: 'try', of: [name, query.version],
                load: (signal) => load(name, query.version, signal),
                show: (data) => this.show(data),
            }),
        ]);
    }
}
