/* The first tab of a model: its main figures, its versions, where it comes from, its calls. */
import { Component, h } from '../../base/preact.js';
import { patch, path } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { count, time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { RequestCode } from '../../parts/code.js';
import { Fact } from '../../parts/fact.js';
import { Field, TextField } from '../../parts/fields.js';
import { METRICS, metricSpread, metricText, metricValue } from '../../parts/metrics.js';
import { ScopedButton } from '../../parts/scoped.js';
import { announce } from '../../parts/status.js';
import { Origin, validationText } from './origin.js';
import { versionPath } from '../../base/version_path.js';
import { ChangeProblem, Versions } from './versions.js';

const MAIN = ['accuracy', 'balanced_accuracy', 'macro.f1', 'roc_auc'];

/* The main figures, of held-out rows if there are some. */
function Figures({ model }) {
    const metrics = model.metrics?.validation || model.metrics?.train;
    if (!metrics) {
        return h('section', { class: 'card', 'aria-label': 'Figures' }, [
            h('h2', {}, 'How good it is'),
            h('p', {}, 'It was trained without a target, so there is no right answer to compare ' +
                `with. ${count(model.details?.outliers ?? null)} of the training rows are ` +
                'outliers to it. Measure it under “Quality” on rows of which it is known.'),
        ]);
    }
    const shown = MAIN.filter((name) => typeof metricValue(metrics, name) === 'number');
    return h('section', { class: 'card', 'aria-label': 'Figures' }, [
        h('h2', {}, 'How good it is'),
        h('div', { class: 'facts' }, shown.map((name) => h(Fact, {
            title: METRICS[name].text,
            value: metricText(name, metricValue(metrics, name)),
            label: `${METRICS[name].label} ${metricSpread(metrics, name)}`,
        }))),
        model.metrics.validation
            ? h('p', { class: 'minor after' }, validationText(model))
            : h('p', { class: 'warnings after' }, 'These are figures of the training rows, which ' +
                'the model has seen: they are too good. Measure it on other rows under ' +
                '“Quality”, or train again with rows held out.'),
        h('a', { href: link(['models', model.name, String(model.version)], { tab: 'quality' }) },
            'Errors, curves and all figures'),
    ]);
}

/* Description and tags, and their form. */
class About extends Component {
    constructor(props) {
        super(props);
        this.state = { editing: false, description: '', tags: '', error: null };
    }

    edit() {
        const { description, tags } = this.props.model;
        this.setState({ editing: true, error: null, description: description || '',
            tags: tags.join(', ') });
    }

    save(event) {
        event.preventDefault();
        const tags = this.state.tags.split(',').map((t) => t.trim()).filter((t) => t !== '');
        void this.change({
            description: this.state.description.trim() || null, tags: [...new Set(tags)],
        }, 'Description and tags were saved');
    }

    /* members: of the model; text: says that they were changed */
    async change(members, text) {
        const { model, etag } = this.props;
        try {
            await patch(path`/v1/models/${model.name}`, members,
                { headers: { 'If-Match': etag } });
        } catch (error) {
            this.setState({ error });
            if (error.status === 412) {
                changed('models');
            }
            return;
        }
        this.setState({ editing: false, error: null });
        announce(text);
        changed('models');
    }

    /* When the model will be deleted, and how to keep it. */
    expiry({ expires_at: at }) {
        return at ? h('div', { class: 'warnings after' }, [
            h('p', {}, `The model is deleted on ${time(at)}.`),
            h(ScopedButton, {
                scope: 'write',
                onClick: () => void this.change({ expires_in: null }, 'The model is kept'),
            }, 'Keep the model'),
        ]) : null;
    }

    form({ description, tags }) {
        return h('form', { class: 'stack', onSubmit: (event) => this.save(event) }, [
            h(Field, {
                label: 'Description', control: (attributes) => h('textarea', {
                    ...attributes, value: description, maxlength: 4000,
                    onInput: (event) => this.setState({ description: event.target.value }),
                }),
            }),
            h(TextField, {
                label: 'Tags', value: tags, hint: 'Separated by commas',
                onInput: (text) => this.setState({ tags: text }),
            }),
            h('div', { class: 'buttons' }, [
                h('button', { type: 'submit', class: 'primary' }, 'Save'),
                h('button', { type: 'button', onClick: () => this.setState({ editing: false }) },
                    'Cancel'),
            ]),
        ]);
    }

    render({ model }, state) {
        return h('section', { class: 'card', 'aria-label': 'Description' }, [
            h('div', { class: 'head' }, [
                h('h2', {}, 'Description'),
                state.editing ? null : h(ScopedButton, {
                    scope: 'write', brief: true, class: 'quiet', onClick: () => this.edit(),
                }, 'Edit description and tags'),
            ]),
            state.error ? h(ChangeProblem, { error: state.error }) : null,
            state.editing ? this.form(state) : h('div', {}, [
                model.description ? h('p', { class: 'written' }, model.description)
                    : h('p', { class: 'minor' }, 'None yet. Say what the model is for, and what ' +
                        'it must not be used for.'),
                model.tags.length ? h('p', { class: 'tags' },
                    model.tags.map((text) => h(Badge, { text }))) : null,
                this.expiry(model),
            ]),
        ]);
    }
}

function Calls({ model }) {
    const base = path`/v1/models/${model.name}`;
    return h('section', { class: 'grid plots', 'aria-label': 'Commands' }, [
        h(RequestCode, {
            title: 'Describe it by command', request: { method: 'GET', path: versionPath(model) },
        }),
        h(RequestCode, {
            title: 'Make this version live by command',
            request: { method: 'PUT', path: `${base}/live`, body: { version: model.version } },
        }),
        model.dataset ? h(RequestCode, {
            title: 'Predict all rows of a dataset by command',
            request: { method: 'POST', path: `${base}/predict`, accept: 'text/csv',
                body: { dataset: model.dataset.name } },
        }) : null,
    ]);
}

export function Overview({ model, name, versions, liveEtag, busy, error, makeLive }) {
    const live = versions.find((v) => v.live);
    return h('div', { class: 'stack' }, [
        h('div', { class: 'split' }, [
            h(Figures, { model }),
            h(About, { model: live.version === model.version ? model : { ...model,
                description: live.description, tags: live.tags,
                expires_at: live.expires_at }, etag: liveEtag }),
        ]),
        h(Versions, {
            name, versions, busy, error, makeLive, shown: model.version, metric: 'accuracy',
        }),
        h(Origin, { model }),
        h(Calls, { model }),
    ]);
}
