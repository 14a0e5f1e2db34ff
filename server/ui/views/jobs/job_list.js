/* The history of jobs, newest first. */
import { Component, h } from '../../base/preact.js';
import { get } from '../../base/api.js';
import { methodTitles } from '../../base/catalogue.js';
import { percent, seconds, time } from '../../base/format.js';
import { link, setQuery } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { ExpiringCheck, OnlyExpiring, countHidden, expiresQuery } from '../../parts/expiring.js';
import { Choice, TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { metricLabel, metricSpread, metricText, metricValue } from '../../parts/metrics.js';
import { DataTable } from '../../parts/table.js';
import { isActive, mainMetric, methodText, runSeconds } from './job_text.js';

const PAGE = 25;
const LIVE = 2000; /* ms between two calls while a job runs */
const IDLE = 15000;
const TYPING = 350; /* ms after the last key */
const STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

function StateCell({ job }) {
    return h('span', { class: 'job-state' }, [
        h(Badge, { text: job.state }),
        job.state === 'running' && job.progress
            ? h('span', { class: 'minor' }, percent(job.progress.fraction, 0)) : null,
    ]);
}

function MetricCell({ job }) {
    if (job.error) {
        return h('span', { class: 'minor' }, job.error.title || job.error.detail);
    }
    const main = mainMetric(job);
    if (!main) {
        return '–';
    }
    const { name, metrics, of } = main;
    const spread = metricSpread(metrics, name);
    return h('span', {}, [
        `${metricLabel(name)} ${metricText(name, metricValue(metrics, name))}`,
        h('span', { class: 'minor block' }, of === 'training' ? 'on training rows' : spread),
    ]);
}

const columnsOf = (titles, items) => [
    {
        name: 'id', label: 'Job',
        cell: (job) => h('a', { href: link(['jobs', job.id]) }, `Job ${job.id}`),
    },
    { name: 'state', label: 'State', cell: (job) => h(StateCell, { job }) },
    {
        name: 'model', label: 'Model',
        cell: (job) => (job.state === 'succeeded'
            ? h('a', {
                class: 'column-name', title: job.model, href: link(['models', job.model]),
            }, job.model)
            : h('span', { class: 'column-name', title: job.model }, job.model)),
    },
    {
        name: 'dataset', label: 'Data',
        cell: ({ dataset }) => h('a', {
            class: 'column-name', title: dataset.name, href: link(['data', dataset.name]),
        }, `${dataset.name}@${dataset.version}`),
    },
    {
        name: 'method', label: 'Method',
        cell: (job) => h('span', { class: 'job-method' }, methodText(job, titles)),
    },
    { name: 'metric', label: 'Result', cell: (job) => h(MetricCell, { job }) },
    { name: 'created_at', label: 'Sent', cell: (job) => time(job.created_at) },
    {
        name: 'duration', label: 'Duration', numeric: true,
        cell: (job) => seconds(runSeconds(job)),
    },
    ...(items.some((job) => job.submitted_by)
        ? [{ name: 'submitted_by', label: 'By', cell: (job) => job.submitted_by || '–' }] : []),
];

function Empty({ query }) {
    if (query.state || query.model || query.after) {
        return h('div', { class: 'empty' }, [
            h('p', {}, 'No job matches.'),
            h('a', { class: 'button', href: link(['jobs']) }, 'Show all jobs'),
        ]);
    }
    return h('div', { class: 'empty' }, [
        h('p', {}, 'There are no jobs yet. A job trains a model from a table.'),
        h('a', { class: 'button primary', href: link(['train']) }, 'Train a model'),
    ]);
}

export class JobList extends Component {
    constructor(props) {
        super(props);
        this.state = { model: props.query.model || '', names: [] };
        this.abort = new AbortController();
    }

    componentDidMount() {
        void this.loadNames();
    }

    async loadNames() {
        const query = { fields: 'name', limit: 200, expires: expiresQuery() };
        try {
            const { items } = await get('/v1/models', { query, signal: this.abort.signal });
            this.setState({ names: items.map((item) => item.name) });
        } catch {
            /* no suggestions */
        }
    }

    componentWillReceiveProps({ query }) {
        if (query.model !== this.props.query.model) {
            this.setState({ model: query.model || '' });
        }
    }

    componentDidUpdate({ query }) {
        if (query.expiring !== this.props.query.expiring) {
            void this.loadNames();
        }
    }

    componentWillUnmount() {
        clearTimeout(this.timer);
        this.abort.abort();
    }

    typed(model) {
        this.setState({ model });
        clearTimeout(this.timer);
        this.timer = setTimeout(() => setQuery({ model: model.trim(), after: '' }), TYPING);
    }

    page({ items, next, titles, hidden }) {
        const { query } = this.props;
        const { state, model, expiring } = query;
        return h('div', { class: 'stack' }, [
            hidden > 0 ? h(OnlyExpiring, { n: hidden, noun: 'job' })
                : items.length === 0 ? h(Empty, { query })
                    : h('div', { class: 'job-list' }, h(DataTable, {
                        caption: 'Jobs, newest first', columns: columnsOf(titles, items),
                        rows: items, sort: false,
                    })),
            h('nav', { class: 'buttons', 'aria-label': 'Pages of jobs' }, [
                query.after ? h('a', {
                    class: 'button', href: link(['jobs'], { state, model, expiring }),
                }, 'Newest jobs') : null,
                next ? h('a', {
                    class: 'button', href: link(['jobs'], { state, model, expiring, after: next }),
                }, 'Older jobs') : null,
            ]),
        ]);
    }

    render({ query }, { model, names }) {
        const asked = {
            state: query.state, model: query.model, after: query.after, expires: expiresQuery(),
        };
        return h('section', { class: 'stack' }, [
            h('div', { class: 'head' }, [
                h('h1', {}, 'Jobs'),
                h('a', { class: 'button', href: link(['train']) }, 'Train a model'),
            ]),
            h('div', { class: 'fields' }, [
                h(Choice, {
                    label: 'State', value: query.state || '',
                    options: [{ value: '', label: 'All' }, ...STATES],
                    onChange: (state) => setQuery({ state, after: '' }),
                }),
                h(TextField, {
                    label: 'Model', type: 'search', value: model, list: names,
                    placeholder: 'All models', onInput: (text) => this.typed(text),
                }),
                h(ExpiringCheck),
            ]),
            h(Loaded, {
                what: 'the jobs', of: asked, kinds: ['jobs', 'models'],
                load: async (signal) => {
                    const titles = await methodTitles();
                    const page = await get('/v1/jobs',
                        { query: { ...asked, limit: PAGE }, signal });
                    const hidden = await countHidden('/v1/jobs', page.items, signal,
                        { fields: 'id', state: query.state, model: query.model });
                    return { ...page, titles, hidden };
                },
                every: (data) => (data?.items.some(isActive) ? LIVE : IDLE),
                show: (data) => this.page(data),
            }),
        ]);
    }
}
