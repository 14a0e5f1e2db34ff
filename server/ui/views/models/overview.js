/* The first tab of a model: its main figures, its versions, where it comes from, its calls. */
import { Component, h } from '../../base/preact.js';
import { patch, path } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { count, time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { RequestCode } from '../../parts/code.js';
import { DescriptionDialog } from '../../parts/description.js';
import { Fact } from '../../parts/fact.js';
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

/* Description and tags. */
class About extends Component {
    constructor(props) {
        super(props);
        this.state = { editing: false, error: null };
    }

    async keep() {
        const { model, etag } = this.props;
        try {
            await patch(path`/v1/models/${model.name}`, { expires_in: null },
                { headers: { 'If-Match': etag } });
        } catch (error) {
            this.setState({ error });
            if (error.status === 412) {
                changed('models');
            }
            return;
        }
        this.setState({ error: null });
        announce('The model is kept');
        changed('models');
    }

    /* When the model will be deleted, and how to keep it. */
    expiry({ expires_at: at }) {
        return at ? h('div', { class: 'warnings after' }, [
            h('p', {}, `The model is deleted on ${time(at)}.`),
            h(ScopedButton, {
                scope: 'write',
                onClick: () => void this.keep(),
            }, 'Keep the model'),
        ]) : null;
    }

    render({ model, etag }, { editing, error }) {
        return h('section', { class: 'card', 'aria-label': 'Description' }, [
            h('div', { class: 'head' }, [
                h('h2', {}, 'Description'),
                h(ScopedButton, {
                    scope: 'write', brief: true, class: 'quiet',
                    onClick: () => this.setState({ editing: true }),
                }, 'Edit description and tags'),
            ]),
            error ? h(ChangeProblem, { error }) : null,
            model.description ? h('p', { class: 'written' }, model.description)
                : h('p', { class: 'minor' }, 'None yet. Say what the model is for, and what ' +
                    'it must not be used for.'),
            model.tags.length ? h('p', { class: 'tags' },
                model.tags.map((text) => h(Badge, { text }))) : null,
            this.expiry(model),
            editing ? h(DescriptionDialog, {
                kind: 'models', thing: model, etag,
                hint: 'What the model is for, and what it must not be used for.',
                onClose: () => this.setState({ editing: false }),
            }) : null,
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
