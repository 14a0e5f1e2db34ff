/* The page of a model: #/models/NAME[/VERSION]?tab=… */
import { Component, h } from '../../base/preact.js';
import { call, list, path, remove } from '../../base/api.js';
import { plural } from '../../base/format.js';
import { go, link } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { Problem } from '../../parts/problem.js';
import { announce } from '../../parts/status.js';
import { Tabs } from '../../parts/tabs.js';
import { Compare } from './compare.js';
import { Decision } from './decision.js';
import { Importance } from './importance.js';
import { Inside } from './inside.js';
import { leave } from './leave.js';
import { switchLive } from './live.js';
import { loadMethods, methodTitle } from './methods.js';
import { Overview } from './overview.js';
import { Quality } from './quality.js';
import { versionPath } from '../../base/version_path.js';
import { ScopedButton } from '../../parts/scoped.js';
import { ChangeProblem } from './versions.js';

const MOST = 1000;

/* The tabs: what a tab shows of {model, name, versions, etag, query}; for: whether it applies. */
const TABS = [
    { name: 'overview', label: 'Overview', view: Overview },
    { name: 'quality', label: 'Quality', view: Quality },
    { name: 'decision', label: 'Threshold and cost', view: Decision,
        for: (m) => m.target !== null },
    { name: 'inside', label: 'What it learned', view: Inside },
    { name: 'importance', label: 'Importance', view: Importance,
        for: (m) => m.target !== null },
    { name: 'compare', label: 'Compare', view: Compare, for: (m) => m.target !== null },
];

/* A model: its versions with the ETag of this state, and the shown one with its own. version: text
 * of the URL; undefined: the live one. The ETag is read first: if a change comes between, the next
 * change by this page is refused. */
async function load(name, version, signal) {
    const head = await call('GET', path`/v1/models/${name}`, { query: { fields: 'name' }, signal });
    const etag = head.headers.get('ETag');
    const versions = await list(path`/v1/models/${name}/versions`, { most: MOST, signal });
    await loadMethods(signal);
    const shown = versions.find((v) => (version === undefined ? v.live
        : String(v.version) === version)) || { name, version };
    const response = await call('GET', versionPath(shown), { signal });
    return {
        versions, etag, shown, model: await response.json(),
        modelEtag: response.headers.get('ETag'),
    };
}

class DeleteModel extends Component {
    constructor(props) {
        super(props);
        this.state = { error: null };
    }

    async run() {
        const { name, onClose } = this.props;
        try {
            await remove(path`/v1/models/${name}`);
        } catch (error) {
            this.setState({ error });
            return;
        }
        onClose();
        leave(['models']);
        announce(`The model ${name} was deleted`);
    }

    render({ name, n, onClose }, { error }) {
        return h(Dialog, { title: `Delete the model ${name}?`, onClose }, [
            h('p', {}, `The model and ${n === 1 ? 'its version' : `all its ${n} versions`} will ` +
                'be gone, and calls of it will fail. This cannot be undone.'),
            error ? h(Problem, { error }) : null,
            h('div', { class: 'buttons' }, [
                h('button', { type: 'button', class: 'danger', onClick: () => this.run() },
                    'Delete the model'),
                h('button', { type: 'button', onClick: onClose }, 'Cancel'),
            ]),
        ]);
    }
}

/* The columns of the table that are numbers: a plane of two of them can be drawn. */
function canDraw(model) {
    return model.inputs.filter((input) => ['numeric', 'datetime'].includes(input.type)).length > 1;
}

/* The version was chosen in the heading: its choice gets the focus again when it is drawn anew. */
let choosing = false;

/* Title, version, and what can be done with it. makeLive: (number) => makes a version live. */
class Heading extends Component {
    constructor(props) {
        super(props);
        this.state = { deleting: false };
    }

    componentDidMount() {
        if (choosing) {
            choosing = false;
            this.choice?.querySelector('select').focus({ preventScroll: true });
        }
    }

    buttons({ name, version, versions, query, drawn, busy, makeLive }) {
        const at = version.live ? {} : { version: version.version };
        return h('div', { class: 'buttons' }, [
            versions.length > 1 ? h('div', {
                class: 'version-choice', ref: (choice) => { this.choice = choice; },
            }, h(Choice, {
                label: 'Version', value: version.version,
                options: [...versions].reverse().map((v) => ({
                    value: v.version,
                    label: `${v.version}${v.live ? ', live' : ''} · ${methodTitle(v.algorithm)}`,
                })),
                onChange: (value) => {
                    choosing = true;
                    go(['models', name, value], { tab: query.tab });
                },
            })) : null,
            version.live ? null : h(ScopedButton, {
                scope: 'write', class: 'primary', disabled: busy,
                onClick: () => makeLive(version.version),
            }, 'Make this version live'),
            h('a', {
                class: `button${version.live ? ' primary' : ''}`,
                href: link(['try', name], at),
            }, 'Try it'),
            drawn ? h('a', { class: 'button', href: link(['boundaries', name], at) },
                'Boundaries') : null,
            h(ScopedButton, {
                scope: 'write', class: 'danger', onClick: () => this.setState({ deleting: true }),
            }, 'Delete …'),
        ]);
    }

    render(props, { deleting }) {
        const { name, version, versions, error } = props;
        return h('div', { class: 'stack model-head' }, [
            h('p', { class: 'minor crumbs' },
                [h('a', { href: link(['models']) }, 'Models'), ' / ']),
            h('div', { class: 'head' }, [
                h('div', {}, [
                    h('h1', { id: 'model-title' }, name),
                    h('p', { class: 'minor' }, [
                        h(Badge, version.live ? { text: 'live', kind: 'good' }
                            : { text: 'not live' }),
                        ` version ${version.version} of ${plural(versions.length, 'version')}` +
                            ` · ${methodTitle(version.algorithm)}`,
                    ]),
                ]),
                this.buttons(props),
            ]),
            error ? h(ChangeProblem, { error }) : null,
            deleting ? h(DeleteModel, {
                name, n: versions.length, onClose: () => this.setState({ deleting: false }),
            }) : null,
        ]);
    }
}

/* The loaded model: its heading and the chosen tab. */
function Body({ name, version, query, state, switching }) {
    const { versions, etag, shown, model, modelEtag } = state;
    const tabs = TABS.filter((tab) => !tab.for || tab.for(model));
    const wanted = query.tab || (query.compare ? 'compare' : 'overview');
    const tab = tabs.find((t) => t.name === wanted) || tabs[0];
    const place = ['models', name, ...(version === undefined ? [] : [version])];
    return h('div', {}, [
        h(Heading, {
            name, versions, query, drawn: canDraw(model), version: shown, ...switching,
            error: switching.from === 'heading' ? switching.error : null,
            makeLive: (to) => switching.makeLive(to, state, 'heading'),
        }),
        h(Tabs, {
            label: `About ${name}`, chosen: tab.name,
            tabs: tabs.map((t) => ({ name: t.name, label: t.label, href: link(place,
                { tab: t.name === 'overview' ? undefined : t.name }) })),
        }),
        h(tab.view, {
            key: tab.view === Overview ? tab.name : `${tab.name} ${model.version}`,
            name, versions, query, model, etag: modelEtag, liveEtag: etag, busy: switching.busy,
            error: switching.from === 'versions' ? switching.error : null,
            makeLive: (to) => switching.makeLive(to, state, 'versions'),
        }),
    ]);
}

/* Holds what a change of the live version needs, as the parts are drawn anew by it. */
export class ModelPage extends Component {
    constructor(props) {
        super(props);
        this.state = { busy: false, error: null, from: null };
        this.makeLive = this.makeLive.bind(this);
        this.seen = () => document.visibilityState === 'visible' && this.reload?.();
    }

    componentDidMount() {
        document.addEventListener('visibilitychange', this.seen);
    }

    componentWillUnmount() {
        document.removeEventListener('visibilitychange', this.seen);
    }

    /* to: number of a version; from: where the button is, next to which an error is shown */
    async makeLive(to, { versions, etag }, from) {
        this.setState({ busy: true, error: null, from });
        let error = null;
        try {
            await switchLive(this.props.name, versions.find((v) => v.live).version, to, etag);
        } catch (refusal) {
            error = refusal;
        }
        this.setState({ busy: false, error });
    }

    page(state, reload) {
        const { name, version, query } = this.props;
        this.reload = reload;
        return h(Body, {
            name, version, query, state, switching: { ...this.state, makeLive: this.makeLive },
        });
    }

    render({ name, version }) {
        return h('section', { 'aria-label': `Model ${name}` }, h(Loaded, {
            title: name, home: version ? ['models', name] : 'models', what: `the model ${name}`,
            of: [name, version], kinds: ['models'],
            load: (signal) => load(name, version, signal),
            show: (state, reload) => this.page(state, reload),
        }));
    }
}
