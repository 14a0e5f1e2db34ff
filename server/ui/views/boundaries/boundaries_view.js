/* The view "Boundaries": what a model answers over two of its columns. The place is
 * #/boundaries/MODEL or #/boundaries/MODEL/VERSION. */
import { h } from '../../base/preact.js';
import { get, list, path } from '../../base/api.js';
import { go, link } from '../../base/place.js';
import { MODEL_FIELDS } from '../../base/version_path.js';
import { ExpiringCheck, expiresQuery } from '../../parts/expiring.js';
import { Choice } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';
import { Tabs } from '../../parts/tabs.js';
import { LossTab, hasLossSurface } from './loss_tab.js';
import { ModelPick } from './model_pick.js';
import { withStoredData } from './origin.js';
import { PlaneTab } from './plane_tab.js';
import { ProjectionTab } from './projection_tab.js';

const MOST_MODELS = 1000;
const TABS = [
    { name: 'plane', label: 'Plane', view: PlaneTab, for: () => true },
    { name: 'projection', label: 'Projection', view: ProjectionTab,
        for: (model) => model.algorithm === 'fisher' && model.dataset },
    { name: 'loss', label: 'Loss surface', view: LossTab, for: hasLossSurface },
];

function versionWhere(name, version) {
    return version ? path`/v1/models/${name}/versions/${version}` : path`/v1/models/${name}`;
}

/* The name of the model, links to what else there is of it, and the choice of another one. */
function Heading({ model, version, names }) {
    const here = [model.name, ...(version ? [version] : [])];
    const others = names.includes(model.name) ? names : [model.name, ...names];
    return h('div', { class: 'head' }, [
        h('div', {}, [
            h('h1', { id: 'boundaries-title' }, `Boundaries of ${model.name}`),
            h('p', { class: 'minor' }, [
                `version ${model.version}${model.live ? ', live' : ', not live'} · `,
                h('a', { href: link(['models', ...here]) }, 'About this model'), ' · ',
                h('a', { href: link(['try', ...here]) }, 'Try it'),
            ]),
        ]),
        h('div', { class: 'boundaries-model' }, h(Choice, {
            label: 'Model', value: model.name, options: others,
            onChange: (name) => go(['boundaries', name]),
        }), h(ExpiringCheck)),
    ]);
}

function Body({ model, version, names, query }) {
    const tabs = TABS.filter((tab) => tab.for(model));
    const tab = tabs.find(({ name }) => name === query.tab) || tabs[0];
    const where = ['boundaries', model.name, ...(version ? [version] : [])];
    return h('section', { 'aria-labelledby': 'boundaries-title' }, [
        h(Heading, { model, version, names }),
        tabs.length > 1 ? h(Tabs, {
            label: 'Drawings', chosen: tab.name,
            tabs: tabs.map(({ name, label }) => ({ name, label, href: link(where,
                { ...query, tab: name === 'plane' ? undefined : name }) })),
        }) : null,
        h(tab.view, { key: `${tab.name} ${model.name} ${model.version}`, model, query }),
    ]);
}

export function BoundariesView({ path: [name, inPath], query }) {
    const version = inPath || query.version;
    if (!name) {
        return h(ModelPick);
    }
    return h(Loaded, {
        title: `Boundaries of ${name}`, home: 'boundaries', what: `the model ${name}`,
        of: [name, version, expiresQuery()], kinds: ['models', 'datasets'],
        load: async (signal) => {
            const [model, names] = await Promise.all([
                get(versionWhere(name, version), { query: { fields: MODEL_FIELDS }, signal }),
                list('/v1/models', {
                    query: { fields: 'name', expires: expiresQuery() }, most: MOST_MODELS, signal,
                }),
            ]);
            return { model: await withStoredData(model, signal),
                names: names.map((item) => item.name) };
        },
        show: ({ model, names }) => h(Body, { model, version, names, query }),
    });
}
