/* The tab "Compare": versions or models on the same rows. ?compare=NAME@VERSION,…&data=DATASET */
import { Component, h } from '../../base/preact.js';
import { list, path, post } from '../../base/api.js';
import { plural } from '../../base/format.js';
import { setQuery } from '../../base/place.js';
import { RequestCode } from '../../parts/code.js';
import { expiresQuery } from '../../parts/expiring.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { ScopedButton } from '../../parts/scoped.js';
import { Comparison } from './comparison.js';
import { DatasetChoice } from '../../parts/dataset_choice.js';
import { methodTitle } from './methods.js';

const MOST_MODELS = 1000;
const ROWS = 100; /* in which the labels differ, that are listed */

/* The two models of the URL: "a@1,b@2"; one alone is compared with the shown version. */
function pairOf({ compare = '' }, model) {
    const own = `${model.name}@${model.version}`;
    const given = compare.split(',').filter(Boolean);
    return given.length >= 2 ? given.slice(0, 2) : [own, given[0] && given[0] !== own ? given[0]
        : ''];
}

/* The name of "NAME@VERSION". */
const nameOf = (reference) => reference.replace(/@.*$/, '');

/* The choice of a version: of the shown model, and the live versions of others. */
function ModelChoice({ label, value, versions, name, others, onChange }) {
    const own = [...versions].reverse().map((v) => ({
        value: `${name}@${v.version}`,
        label: `${name}, version ${v.version}${v.live ? ' (live)' : ''}: ${
            methodTitle(v.algorithm)}`,
    }));
    const foreign = others.filter((m) => m.name !== name).map((m) => ({
        value: `${m.name}@${m.version}`,
        label: `${m.name}, version ${m.version} (live): ${methodTitle(m.algorithm)}`,
    }));
    const options = [...own, ...foreign];
    if (value && !options.some((o) => o.value === value)) {
        options.push({ value, label: value });
    }
    return h(Choice, {
        label, value, onChange, options: [{ value: '', label: 'Choose …' }, ...options],
    });
}

export class Compare extends Component {
    constructor(props) {
        super(props);
        const [first, second] = pairOf(props.query, props.model);
        this.state = { first, second, data: props.query.data || props.model.dataset?.name || '' };
    }

    componentWillReceiveProps({ query, model }) {
        if (query.compare !== this.props.query.compare) {
            const [first, second] = pairOf(query, model);
            this.setState({ first, second });
        }
    }

    form({ model, versions, name }, { first, second, data }) {
        const ready = first && second && first !== second && data;
        const submit = (event) => {
            event.preventDefault();
            setQuery({ tab: 'compare', compare: `${first},${second}`, data });
        };
        return h(Loaded, {
            of: [model.target, expiresQuery()], kinds: ['models'], what: 'the other models',
            load: (signal) => list('/v1/models', {
                query: { fields: 'name,version,algorithm,target', expires: expiresQuery() },
                most: MOST_MODELS, signal,
            }),
            show: (models) => {
                const others = models.filter((m) => m.target === model.target);
                return h('form', { class: 'stack', onSubmit: submit }, [
                    h('div', { class: 'fields broad' }, [
                        h(ModelChoice, {
                            label: 'First', value: first, versions, name, others,
                            onChange: (value) => this.setState({ first: value }),
                        }),
                        h(ModelChoice, {
                            label: 'Second', value: second, versions, name, others,
                            onChange: (value) => this.setState({ second: value }),
                        }),
                        h(DatasetChoice, {
                            label: 'On the rows of', value: data, preferred: model.dataset?.name,
                            hint: 'Best are rows that neither has learned from',
                            onChange: (value) => this.setState({ data: value }),
                        }),
                    ]),
                    first && first === second ? h('p', { class: 'error' },
                        'These are the same: choose two different ones.') : null,
                    h('div', { class: 'buttons' }, h(ScopedButton, {
                        scope: ['predict', 'read'], names: [nameOf(first), nameOf(second), data],
                        type: 'submit', class: 'primary', disabled: !ready }, 'Compare')),
                ]);
            },
        });
    }

    render(props, state) {
        const { model, query } = props;
        const models = pairOf(query, model);
        const asked = models.every(Boolean) && models[0] !== models[1] && query.data;
        const request = asked ? {
            method: 'POST', path: path`/v1/compare`,
            body: { models, dataset: query.data, rows: ROWS },
        } : null;
        return h('div', { class: 'stack' }, [
            h('section', { class: 'card stack', 'aria-labelledby': 'compare-title' }, [
                h('h2', { id: 'compare-title' }, 'Compare two versions or models'),
                h('p', {}, 'Both label the same rows, with their decision rules, if any. ' +
                    'The interval of a difference tells whether it may be chance.'),
                this.form(props, state),
            ]),
            asked ? h(Loaded, {
                of: request.body, what: `the comparison on ${query.data}`,
                load: (signal) => post(request.path, request.body, { signal }),
                show: (answer) => h(Comparison, {
                    answer, trained: model.dataset?.name === answer.dataset.name,
                }),
            }) : h('div', { class: 'empty' }, 'Choose two of them and the rows, then press ' +
                `“Compare”. ${plural(props.versions.length, 'version')} of this model and the ` +
                'models that predict the same column can be chosen.'),
            request ? h(RequestCode, { request }) : null,
        ]);
    }
}
