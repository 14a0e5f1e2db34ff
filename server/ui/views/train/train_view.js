/* The view "Train": a request for a job is made by forms or as JSON, checked and started. */
import { h } from '../../base/preact.js';
import { get, list, path } from '../../base/api.js';
import { link } from '../../base/place.js';
import { ExpiringCheck, OnlyExpiring, showsExpiring } from '../../parts/expiring.js';
import { Loaded } from '../../parts/loaded.js';
import { TrainForm } from './train_form.js';

const MOST = 10000;

async function load(signal) {
    const [catalogue, datasets, models, limits] = await Promise.all([
        get('/v1/algorithms', { signal }),
        list('/v1/datasets', {
            query: { fields: 'name,version,rows,created_at,expires_at' }, most: MOST, signal,
        }),
        list('/v1/models', { query: { fields: 'name', expires: false }, signal }),
        get('/v1/limits', { signal }),
    ]);
    datasets.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    return { methods: catalogue.items, datasets, models: models.map((m) => m.name), limits };
}

/* The job whose request is edited; one that is gone has no request; null: none is asked for. */
async function loadJob(id, signal) {
    if (id === undefined) {
        return null;
    }
    try {
        return await get(path`/v1/jobs/${id}`, { signal });
    } catch (error) {
        if (error.status !== 404) {
            throw error;
        }
        return { id, gone: true };
    }
}

function NoData() {
    return h('div', { class: 'empty' }, [
        h('p', {}, 'There are no tables yet. Discern learns from a table: rows of examples, ' +
            'with a column that says what each one is.'),
        h('a', { class: 'button primary', href: link(['data']) }, 'Add a table'),
    ]);
}

/* Whether a link names what is trained. */
function hasRequest({ request, job, dataset }) {
    return Boolean(request || job || dataset);
}

export function TrainView({ query }) {
    const isChoice = ({ expires_at: at }) => at === null || showsExpiring();
    return h('div', {}, [
        h('div', { class: 'head' }, h('h1', {}, 'Train'), h(ExpiringCheck)),
        h(Loaded, {
            what: 'the methods and the data', load, kinds: ['datasets', 'models'],
            show: (data) => (!data.datasets.some(isChoice) && !hasRequest(query)
                ? data.datasets.length > 0
                    ? h(OnlyExpiring, { n: data.datasets.length, noun: 'table' }) : h(NoData)
                : h(Loaded, {
                    what: 'the job', of: query.job ?? null,
                    load: (signal) => loadJob(query.job, signal),
                    show: (job) => h(TrainForm, { ...data, isChoice, key: query.job, job, query }),
                })),
        }),
    ]);
}
