/* The forms of the request, the request as JSON, and its check. */
import { Component, h } from '../../base/preact.js';
import { CallError, get, list, path, post } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { go, link, setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { Tabs } from '../../parts/tabs.js';
import { Group } from './bound.js';
import { Check } from './check.js';
import { DataSection } from './data_section.js';
import { FeaturesSection, featuresText } from './features_section.js';
import { JsonSection, parseRequest } from './json_section.js';
import { MethodSection } from './method_section.js';
import {
    ConformalSection, DecisionSection, LimitsSection, PromoteSection, WeightsSection,
    conformalText, decisionText, limitsText, promoteText, weightsText,
} from './more_section.js';
import { at, errorAt, inOrder, put, reference } from './request.js';
import { SearchSection } from './search_section.js';
import { StartPanel } from './start_panel.js';
import { classesOf, proposeModel, proposeTarget } from './target.js';
import { LearningCurve, ValidationSection, validationText } from './validation_section.js';

const LONGEST_LINK = 60000; /* characters of a request in the URL */
const START = { search: { candidates: 'auto', seconds: 60 },
    validation: { holdout: 0.2, curves: true } };

const STATES = {
    queued: 'is queued', running: 'is running', succeeded: 'has succeeded', failed: 'has failed',
    cancelled: 'was cancelled',
};

function newKey() {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)),
        (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/* What a link asks for: {request, text}. text: it is no object of JSON, and shown as it is. */
function asked({ query, job, datasets, isChoice }) {
    const start = {
        dataset: query.dataset || datasets.find(isChoice)?.name,
        ...(query.model ? { model: query.model } : {}),
        ...(query.target ? { target: query.target } : {}),
        ...(query.algorithm
            ? { algorithm: query.algorithm, validation: START.validation } : START),
    };
    if (query.request !== undefined) {
        const { request } = parseRequest(query.request);
        return request ? { request: inOrder(request) } : { request: start, text: query.request };
    }
    return { request: job?.request || job?.resolved || start };
}

/*   methods, datasets, models, limits  of the API
 *   isChoice  (dataset) => whether it is offered
 *   job    whose request is edited; null: none
 *   query  of the place. The form begins anew when it asks for something else, not when it has the
 *          request that the form has put there.
 */
export class TrainForm extends Component {
    constructor(props) {
        super(props);
        this.state = {
            ...asked(props), dataset: null, datasetError: null, reason: '', check: null,
            starting: false, refusal: null, proposed: null, last: null,
        };
        this.kept = {}; /* of the way that is not chosen: search or method */
    }

    componentDidMount() {
        this.check = new Check((check) => this.checked(check));
        this.begin();
    }

    componentWillReceiveProps(next) {
        const same = JSON.stringify({ ...next.query, as: '' }) ===
            JSON.stringify({ ...this.props.query, as: '' });
        if (!same && (next.query.request === undefined || next.query.request !== this.own)) {
            clearTimeout(this.timer);
            this.setState({ refusal: null, reason: '', text: undefined, ...asked(next) },
                () => this.begin());
        }
    }

    componentDidUpdate(before) {
        if (before.datasets !== this.props.datasets) {
            void this.loadDataset();
        }
    }

    componentWillUnmount() {
        this.check.end();
        this.abort?.abort();
        clearTimeout(this.timer);
    }

    begin() {
        if (this.loaded(this.state.request)) {
            this.propose();
        } else {
            void this.loadDataset();
        }
        this.check.set(this.state.text === undefined && !this.waits(this.state.request)
            ? this.state.request : null);
    }

    /* Loads the columns, and proposes what the request lacks. */
    async loadDataset() {
        const { name, version } = reference(this.state.request.dataset);
        this.abort?.abort();
        this.abort = null;
        if (!name) {
            this.setState({ dataset: null, datasetError: null });
            return;
        }
        const abort = new AbortController();
        this.abort = abort;
        try {
            const [dataset, versions] = await Promise.all([
                get(path`/v1/datasets/${name}`, { query: { version }, signal: abort.signal }),
                list(path`/v1/datasets/${name}/versions`, {
                    query: { fields: 'version,rows,created_at' }, signal: abort.signal, most: 200,
                }),
            ]);
            if (this.abort !== abort) {
                return;
            }
            this.setState({ dataset: { ...dataset, versions }, datasetError: null },
                () => this.propose());
        } catch (error) {
            if (error.name !== 'AbortError' && this.abort === abort) {
                this.setState(({ dataset }) => ({
                    dataset: error.status === 0 ? dataset : null, datasetError: error,
                }));
                if (this.state.text === undefined) {
                    this.check.set(this.state.request);
                }
            }
        }
    }

    propose() {
        const { request, dataset, text } = this.state;
        if (text !== undefined) {
            return;
        }
        let next = request;
        let { reason } = this.state;
        if (next.target === undefined && this.needsTarget(next)) {
            const proposal = proposeTarget(dataset.columns);
            if (proposal) {
                next = { ...next, target: proposal.name };
                reason = proposal.reason;
            }
        }
        if (next.model === undefined) {
            next = { model: proposeModel(dataset.name, next.target), ...next };
        }
        if (next !== request) {
            this.setState({ reason });
            this.change(next);
        } else if (this.check.request !== request) {
            this.check.set(request);
        }
    }

    /* Whether the columns of the request's data are there. */
    loaded(request) {
        const { name, version } = reference(request.dataset);
        const { dataset } = this.state;
        return dataset?.name === name && (!version || version === String(dataset.version));
    }

    /* Whether the request lacks what propose() adds when the columns are there: until then the API
     * would refuse it. */
    waits(request) {
        return !this.loaded(request) && Boolean(reference(request.dataset).name) &&
            (request.model === undefined ||
                (request.target === undefined && this.needsTarget(request)));
    }

    needsTarget(request) {
        const method = this.props.methods.find((m) => m.id === request.algorithm);
        return !method || method.needs_target;
    }

    checked(check) {
        this.setState(({ refusal }) => ({
            check, refusal: check.answer && refusal?.status === 0 ? null : refusal,
        }));
        const { answer } = check;
        if (answer?.search && check.of.search?.candidates === 'auto') {
            this.setState({ proposed: answer.search.candidates });
        }
        if (answer && !answer.search) {
            void this.loadLast(answer);
        }
    }

    /* The time that the latest job of the same method and data took. */
    async loadLast(answer) {
        const of = `${answer.algorithm} ${answer.dataset.name} ${answer.model}`;
        if (this.lastOf === of) {
            return;
        }
        this.lastOf = of;
        this.setState({ last: null });
        try {
            const { items } = await get('/v1/jobs', {
                query: {
                    model: answer.model, state: 'succeeded', limit: 20,
                    fields: 'id,algorithm,dataset,started_at,finished_at',
                },
            });
            const same = items.filter((job) => job.algorithm === answer.algorithm &&
                job.dataset.name === answer.dataset.name).sort((a, b) => b.id - a.id)[0];
            if (same && this.lastOf === of) {
                this.setState({
                    last: {
                        id: same.id,
                        seconds: (new Date(same.finished_at) - new Date(same.started_at)) / 1000,
                    },
                });
            }
        } catch {
            /* it is only an addition */
        }
    }

    /* Sets the request, checks it, and keeps it in the URL. */
    change(changed_) {
        const before = this.state.request;
        const request = inOrder(changed_);
        this.setState({ request, text: undefined, refusal: null }, () => {
            if (before.dataset !== request.dataset) {
                void this.loadDataset();
            }
        });
        this.key = null;
        this.check.set(this.waits(request) ? null : request);
        clearTimeout(this.timer);
        this.timer = setTimeout(() => {
            const text = JSON.stringify(request);
            if (text.length <= LONGEST_LINK) {
                this.own = text;
                setQuery({ request: text, dataset: '', target: '', model: '', algorithm: '' });
            }
        }, 300);
    }

    /* A text that is not an object of JSON: null is checked, nothing starts. */
    changeText(text) {
        this.setState({ text });
        this.check.set(null);
    }

    async start() {
        const { request, starting } = this.state;
        if (starting) {
            return;
        }
        this.key = this.key || newKey();
        this.setState({ starting: true, refusal: null });
        try {
            const job = await post('/v1/jobs', request,
                { headers: { 'Idempotency-Key': this.key } });
            changed('jobs');
            clearTimeout(this.timer);
            go(['jobs', String(job.id)]);
        } catch (error) {
            if (error instanceof CallError && error.status === 422) {
                this.setState({ starting: false, check: { of: request, answer: null, error } });
            } else {
                this.setState({ starting: false, refusal: error });
            }
        }
    }

    /* Another dataset: what names its columns is gone, the rest stays. */
    chooseDataset(reference_) {
        const { request } = this.state;
        const sameName = reference(request.dataset).name === reference(reference_).name;
        if (sameName) {
            this.change({ ...request, dataset: reference_ });
            return;
        }
        const { target, model, features, weight, class_weight: classes, decision, ...rest } =
            request;
        const isProposed = model === undefined ||
            model === proposeModel(reference(request.dataset).name, target);
        const validation = rest.validation && (rest.validation.group || rest.validation.order ||
            rest.validation.column) ? START.validation : rest.validation;
        this.setState({ reason: '', proposed: null });
        this.change({
            ...(isProposed ? {} : { model }), ...rest, dataset: reference_,
            ...(validation ? { validation } : {}),
            ...(rest.search ? { search: put(put(put(rest.search, '/group'), '/order'), '/column') }
                : {}),
        });
    }

    chooseTarget(target) {
        const { request } = this.state;
        const { name } = reference(request.dataset);
        const isProposed = request.model === proposeModel(name, request.target);
        const { target_as: as, class_weight: classes, decision, ...rest } = request;
        this.setState({ reason: '' });
        this.change({
            ...rest, target: target || undefined,
            ...(isProposed ? { model: proposeModel(name, target) } : {}),
        });
    }

    chooseMethod(id) {
        const { params, algorithm, ...rest } = this.state.request;
        const needs = this.props.methods.find((m) => m.id === id)?.needs_target !== false;
        let next = { ...rest, algorithm: id };
        if (!needs) {
            this.kept.target = next.target ?? this.kept.target;
            this.kept.curves = next.validation?.curves;
            const { target, target_as: as, ...without } = next;
            next = put(without, '/validation/curves');
        } else if (next.target === undefined && this.kept.target !== undefined) {
            next = { ...next, target: this.kept.target };
            next = next.validation ? put(next, '/validation/curves', this.kept.curves) : next;
        }
        this.change(next);
    }

    /* The request as a search or as a training of one method. */
    as(way) {
        const { request } = this.state;
        const { search, algorithm, params, snapshots, snapshots_of: of, ...rest } = request;
        if (way === 'search') {
            if (search) {
                return request;
            }
            this.kept.method = { algorithm, params, snapshots, snapshots_of: of };
            const { folds, ...validation } = rest.validation || {};
            return {
                ...rest, ...(rest.target === undefined && this.kept.target !== undefined
                    ? { target: this.kept.target } : {}),
                ...(rest.validation && folds !== undefined ? { validation: START.validation }
                    : {}),
                search: this.kept.search || START.search,
            };
        }
        if (!search) {
            return request;
        }
        this.kept.search = search;
        return {
            ...rest, ...(this.kept.method?.algorithm ? this.kept.method
                : { algorithm: this.props.methods[0].id }),
        };
    }

    form() {
        const { request, check } = this.state;
        const errors = check?.error?.document?.errors || [];
        return {
            request,
            get: (pointer) => at(request, pointer) ?? undefined,
            set: (pointer, value) => this.change(put(this.state.request, pointer, value)),
            error: (pointer) => errorAt(errors, pointer),
        };
    }

    tabs(way) {
        const { request } = this.state;
        const tab = (name, label, next, as) => ({
            name, label,
            href: link(['train'], { job: this.props.job?.id, request: JSON.stringify(next), as }),
        });
        return h(Tabs, {
            label: 'How to train', chosen: way, tabs: [
                tab('search', 'Find the best for me', this.as('search')),
                tab('method', 'Choose a method', this.as('method')),
                tab('json', 'As JSON', request, 'json'),
            ],
        });
    }

    groups(form) {
        const { request, dataset } = this.state;
        const { methods, datasets, isChoice, limits } = this.props;
        const columns = dataset?.columns || [];
        const nRows = dataset?.rows || 0;
        const classes = classesOf(columns.find((c) => c.name === request.target));
        const method = methods.find((m) => m.id === request.algorithm);
        const others = columns.filter((c) => c.name !== request.target);
        const group = (title, summary, pointers, show) => h(Group, {
            key: title, title, summary, show,
            error: pointers.map((p) => form.error(p)).filter(Boolean).join('; '),
        });
        return h('div', { class: 'stack' }, [
            h('h2', {}, 'More choices'),
            group('Test', validationText(request.validation), ['/validation', '/learning_curve'],
                () => h('div', { class: 'stack' }, [
                    h(ValidationSection, {
                        form, columns: others,
                        datasets: datasets.filter(isChoice).map((d) => d.name),
                    }),
                    request.validation ? h(LearningCurve, { form }) : null,
                ])),
            group('Columns and features', featuresText(request, columns, nRows), ['/features'],
                () => h(FeaturesSection, {
                    form, columns, nRows, usual: method ? method.standardizes : null,
                })),
            group('Weights', weightsText(request), ['/class_weight', '/weight', '/weights'],
                () => h(WeightsSection, { form, columns: others, classes })),
            group('Answer', decisionText(request.decision), ['/decision'],
                () => h(DecisionSection, { form, classes })),
            group('Sets of classes', conformalText(request.conformal), ['/conformal'],
                () => h(ConformalSection, { form })),
            group('Going live', promoteText(request.promote), ['/promote'],
                () => h(PromoteSection, { form })),
            group('Limits and seed', limitsText(request),
                ['/limits', '/seed', '/snapshots', '/snapshots_of'],
                () => h(LimitsSection, { form, server: limits.server })),
        ]);
    }

    render({ methods, datasets, isChoice, models, job, query }, state) {
        const { request, text, dataset, datasetError, reason, check } = state;
        const form = this.form();
        const way = query.as === 'json' || text !== undefined ? 'json'
            : request.search ? 'search' : 'method';
        const columns = dataset?.columns || [];
        return h('div', { class: 'train' }, [
            h('div', { class: 'stack train-main' }, [
                job?.gone ? h('p', { class: 'note' }, `There is no job ${job.id} any more. ` +
                    'This is a new request.') : job ? h('p', { class: 'note' }, [
                    'This is the request of ',
                    h('a', { href: link(['jobs', String(job.id)]) }, `job ${job.id}`),
                    `, which ${STATES[job.state]}. Change it and start it as a new job.`,
                    job.error ? h('span', { class: 'error' }, ` ${
                        job.error.detail || job.error.title}`) : null,
                ]) : null,
                h(DataSection, {
                    form, datasets: datasets.filter(isChoice), models, methods, dataset,
                    error: datasetError, reason,
                    needsTarget: this.needsTarget(request),
                    onDataset: (name) => this.chooseDataset(name),
                    onTarget: (name) => this.chooseTarget(name),
                    onRetry: () => this.loadDataset(),
                }),
                h('section', { class: 'card', 'aria-label': 'How to train' }, [
                    this.tabs(way),
                    way === 'json' ? h(JsonSection, {
                        request, text, onRequest: (next) => this.change(next),
                        onText: (next) => this.changeText(next),
                    }) : way === 'search' ? h(SearchSection, {
                        form, methods, columns: columns.filter((c) => c.name !== request.target),
                        proposed: state.proposed,
                    }) : h(MethodSection, {
                        form, methods, onChoose: (id) => this.chooseMethod(id),
                    }),
                ]),
            ]),
            h('div', { class: 'stack train-side' }, [
                h(StartPanel, {
                    request: text === undefined ? request : null, check, columns,
                    checking: !check || check.of !== request, starting: state.starting,
                    refusal: state.refusal, methods, last: state.last,
                    way, onStart: () => this.start(),
                }),
                h(RequestCode, {
                    request: { method: 'POST', path: '/v1/jobs', body: request },
                }),
            ]),
            h('div', { class: 'stack train-more' }, [
                way === 'json' ? null : this.groups(form),
            ]),
        ]);
    }
}
