/* The versions of a model: which is live, switching, comparing and deleting. */
import { Component, h } from '../../base/preact.js';
import { path, remove } from '../../base/api.js';
import { time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { Badge } from '../../parts/badge.js';
import { Dialog } from '../../parts/dialog.js';
import { Choice } from '../../parts/fields.js';
import { metricLabel, metricSpread, metricText, metricValue } from '../../parts/metrics.js';
import { Problem } from '../../parts/problem.js';
import { announce } from '../../parts/status.js';
import { DataTable } from '../../parts/table.js';
import { ScopedButton } from '../../parts/scoped.js';
import { leave } from './leave.js';
import { methodTitle } from './methods.js';
import { shortSource } from './origin.js';

/* Says that somebody else was faster. */
function Overtaken() {
    return h('div', { class: 'warnings', role: 'alert' }, [
        h('strong', {}, 'Nothing was changed'),
        h('p', {}, 'Another tab, person or job has changed this model since it was shown here. ' +
            'The table shows its present state: look at it, and choose again.'),
    ]);
}

/* The error of a change of the live version. */
export function ChangeProblem({ error }) {
    return error.status === 412 ? h(Overtaken) : h(Problem, { error });
}

/* Asks before a version is deleted; for the live one it asks which version takes its place. */
class DeleteVersion extends Component {
    constructor(props) {
        super(props);
        const others = this.others(props);
        const last = others[others.length - 1];
        this.state = { heir: last ? last.version : null, error: null };
    }

    others({ versions, version }) {
        return versions.filter((v) => v.version !== version.version);
    }

    async run() {
        const { name, version, onClose } = this.props;
        const { heir } = this.state;
        try {
            await remove(path`/v1/models/${name}/versions/${version.version}`,
                { query: { promote: version.live && heir !== null ? heir : undefined } });
        } catch (error) {
            this.setState({ error });
            return;
        }
        onClose();
        leave(heir === null ? ['models'] : ['models', name]);
        announce(`Version ${version.version} of ${name} was deleted`);
    }

    render({ name, version, onClose, ...rest }, { heir, error }) {
        const others = this.others({ version, ...rest });
        return h(Dialog, { title: `Delete version ${version.version} of ${name}?`, onClose }, [
            h('p', {}, others.length === 0
                ? 'It is the only version: the model will be gone, and calls of it will fail. ' +
                    'This cannot be undone.'
                : 'The version will be gone. This cannot be undone.'),
            version.live && others.length ? h(Choice, {
                label: 'Which version becomes live?', value: heir,
                hint: 'Calls without a version use the live one.',
                options: others.map((v) => ({ value: v.version, label: `Version ${v.version}` })),
                onChange: (value) => this.setState({ heir: Number(value) }),
            }) : null,
            error ? h(Problem, { error }) : null,
            h('div', { class: 'buttons' }, [
                h('button', { type: 'button', class: 'danger', onClick: () => this.run() },
                    'Delete the version'),
                h('button', { type: 'button', onClick: onClose }, 'Cancel'),
            ]),
        ]);
    }
}

/*   name, versions  the model
 *   shown           number of the version of the page
 *   metric          name of the metric that is shown
 *   makeLive        (number) => makes a version live; busy: it is being done
 *   error           of the last attempt
 */
export class Versions extends Component {
    constructor(props) {
        super(props);
        this.state = { deleting: null };
    }

    /* The pressed button disappears when its version is live: the focus stays near. */
    makeLive(version) {
        this.heading.focus();
        this.props.makeLive(version);
    }

    columns({ name, versions, metric, busy }) {
        const live = versions.find((v) => v.live);
        const metrics = (v) => v.metrics?.validation || v.metrics?.train;
        return [
            { name: 'version', label: 'Version', value: (v) => v.version,
                cell: (v) => h('a', {
                    class: 'nowrap', href: link(['models', name, String(v.version)]),
                }, `Version ${v.version}`) },
            { name: 'live', label: 'State', value: (v) => (v.live ? 0 : 1), cell: (v) => (v.live
                ? h(Badge, { text: 'live', kind: 'good' })
                : h(ScopedButton, {
                    scope: 'write', brief: true, disabled: busy,
                    'aria-label': `Make live: version ${v.version}`,
                    onClick: () => this.makeLive(v.version),
                }, 'Make live')) },
            { name: 'method', label: 'Method', value: (v) => methodTitle(v.algorithm) },
            { name: 'metric', label: metricLabel(metric), value: (v) => metricValue(metrics(v),
                metric), cell: (v) => h('span', {}, [
                h('strong', {}, metricText(metric, metricValue(metrics(v), metric))),
                h('span', { class: 'minor' }, ` ${metricSpread(metrics(v), metric)}`),
                h('br'), h('span', { class: 'minor' }, metrics(v) ? shortSource(v) : ''),
            ]) },
            { name: 'data', label: 'Data', value: (v) => `${v.dataset?.name}, version ` +
                `${v.dataset?.version}`, cell: (v) => (v.dataset ? h('a', {
                href: link(['data', v.dataset.name], { version: v.dataset.version }),
            }, `${v.dataset.name}, version ${v.dataset.version}`) : '–') },
            { name: 'created_at', label: 'Trained', cell: (v) => time(v.created_at) },
            { name: 'actions', label: 'Actions', sort: false, cell: (v) => h('span', {
                class: 'buttons' }, [
                v.live ? null : h('a', {
                    href: link(['models', name], { tab: 'compare',
                        compare: `${name}@${live.version},${name}@${v.version}` }),
                }, 'Compare with live'),
                h(ScopedButton, {
                    scope: 'write', brief: true, class: 'quiet',
                    'aria-label': `Delete version ${v.version}`,
                    onClick: () => this.setState({ deleting: v }),
                }, 'Delete'),
            ]) },
        ];
    }

    render({ name, versions, shown, error }, { deleting }) {
        return h('section', { class: 'card stack', 'aria-labelledby': 'versions-title' }, [
            h('h2', {
                id: 'versions-title', tabindex: '-1',
                ref: (heading) => { this.heading = heading; },
            }, 'Versions'),
            h('p', { class: 'minor' }, 'Each training makes a version. Predictions come from the ' +
                'live one, unless a call names another. A switch takes effect at once.'),
            error ? h(ChangeProblem, { error }) : null,
            h(DataTable, {
                caption: `Versions of ${name}`, columns: this.columns(this.props),
                rows: [...versions].reverse(),
                rowClass: (v) => (v.version === shown ? 'chosen-row' : null),
            }),
            deleting ? h(DeleteVersion, {
                name, versions, version: deleting,
                onClose: () => this.setState({ deleting: null }),
            }) : null,
        ]);
    }
}
