/* The view "Train": a request for a job is made by forms or as JSON, checked and started. */
import { Component, h } from '../../base/preact.js';
import { get, list, path } from '../../base/api.js';
import { link } from '../../base/place.js';
import { Loaded } from '../../parts/loaded.js';
import { TrainForm } from './train_form.js';

async function load(signal) {
    const [catalogue, datasets, models, limits] = await Promise.all([
        get('/v1/algorithms', { signal }),
        list('/v1/datasets', { query: { fields: 'name,version,rows,created_at' }, signal }),
        list('/v1/models', { query: { fields: 'name' }, signal }),
        get('/v1/limits', { signal }),
    ]);
    datasets.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    return { methods: catalogue.items, datasets, models: models.map((m) => m.name), limits };
}

/* What a link asks for: {request, text, job, dataset, target}. */
async function asked(query, signal) {
    if (query.request !== undefined) {
        try {
            const request = JSON.parse(query.request);
            if (request !== null && typeof request === 'object' && !Array.isArray(request)) {
                return { request };
            }
        } catch {
            /* it is shown as text */
        }
        return { text: query.request };
    }
    if (query.job !== undefined) {
        const job = await get(path`/v1/jobs/${query.job}`, { signal });
        return { request: job.request || job.resolved || undefined, job };
    }
    return { dataset: query.dataset, target: query.target };
}

function NoData() {
    return h('div', { class: 'empty' }, [
        h('p', {}, 'There is no data yet. Discern learns from a table: rows of examples, with a ' +
            'column that says what each one is.'),
        h('a', { class: 'button primary', href: link(['data']) }, 'Add a table'),
    ]);
}

/* The form begins anew when a link asks for something else, not when it keeps its own request in
 * the URL. */
export class TrainView extends Component {
    constructor(props) {
        super(props);
        this.own = null; /* the request in the URL that the form has put there */
        this.state = { of: props.query };
    }

    componentWillReceiveProps({ query }) {
        if (query.request === undefined || query.request !== this.own) {
            if (JSON.stringify({ ...query, as: '' }) !==
                JSON.stringify({ ...this.props.query, as: '' })) {
                this.own = null;
                this.setState({ of: query });
            }
        }
    }

    render({ query }, { of }) {
        return h('div', {}, [
            h('div', { class: 'head' }, h('h1', {}, 'Train')),
            h(Loaded, {
                what: 'the methods and the data', load, kinds: ['datasets', 'models'],
                show: (data) => (data.datasets.length === 0 && !of.request && !of.job
                    ? h(NoData)
                    : h(Loaded, {
                        what: 'the request', of: { ...of, as: '' },
                        load: (signal) => asked(of, signal),
                        show: (start) => h(TrainForm, {
                            key: JSON.stringify({ ...of, as: '' }), ...data, start,
                            as: query.as, onRequest: (text) => { this.own = text; },
                        }),
                    })),
            }),
        ]);
    }
}
