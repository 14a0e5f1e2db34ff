/* The page of a dataset: its facts, its tabs, and what can be done with it. */
import { Component, h } from '../../base/preact.js';
import { call, patch, path, remove } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { bytes, count, percent, time } from '../../base/format.js';
import { go, link } from '../../base/place.js';
import { DescriptionDialog } from '../../parts/description.js';
import { Confirm } from '../../parts/dialog.js';
import { Fact } from '../../parts/fact.js';
import { Loaded } from '../../parts/loaded.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { announce } from '../../parts/status.js';
import { Tabs } from '../../parts/tabs.js';
import { ScopedButton } from '../../parts/scoped.js';
import { ColumnsTab } from './columns_tab.js';
import { Download } from './download.js';
import { AddData } from './draft_view.js';
import { lastStored, mendLast } from './draft.js';
import { RowsTab } from './rows_tab.js';
import { VersionsTab } from './versions_tab.js';

const TABS = { columns: 'Columns', rows: 'Rows', versions: 'Versions', append: 'Add rows' };
const MOST_WARNINGS = 12;

function missingShare({ columns, rows, sparse }) {
    if (sparse || rows === 0 || columns.length === 0) {
        return 0;
    }
    return columns.reduce((sum, column) => sum + column.missing, 0) / (rows * columns.length);
}

function Facts({ dataset }) {
    const { rows, columns, sparse } = dataset;
    const n = sparse ? sparse.columns + 1 : columns.length;
    return h('div', { class: 'facts' }, [
        h(Fact, { value: count(rows), label: 'rows' }),
        h(Fact, { value: count(n), label: 'columns' }),
        sparse ? h(Fact, { value: percent(sparse.density), label: 'of the cells are not 0' })
            : h(Fact, { value: percent(missingShare(dataset)), label: 'of the cells are missing' }),
        h(Fact, { value: bytes(dataset.bytes), label: 'size' }),
        h(Fact, { value: count(dataset.version), label: 'version' }),
        h(Fact, { value: time(dataset.created_at), label: 'stored' }),
    ]);
}

/* Types that later rows of the upload have changed. */
function Differences({ dataset }) {
    const stored = lastStored();
    if (!stored || stored.name !== dataset.name || stored.version !== dataset.version ||
        stored.differences.length === 0) {
        return null;
    }
    return h('div', { class: 'warnings' }, [
        h('strong', {}, 'Rows below those of the preview changed the type of columns'),
        h('ul', {}, stored.differences.slice(0, MOST_WARNINGS).map((column) => h('li', {},
            `“${column.name}” is ${column.type} because of line ` +
            `${count(column.type_reason.line)}: “${column.type_reason.cell}”.`))),
        h('p', {}, 'If that is a word for a missing value, send the file again:'),
        h(ScopedButton, { scope: 'write', onClick: mendLast }, 'Mend it and send it again'),
    ]);
}

class Page extends Component {
    constructor(props) {
        super(props);
        this.state = { editing: false, deleting: false, error: null };
    }

    async remove() {
        const { name } = this.props.dataset;
        this.setState({ deleting: false, error: null });
        try {
            await remove(path`/v1/datasets/${name}`);
        } catch (error) {
            this.setState({ error });
            return;
        }
        announce(`${name} was deleted`);
        go(['data']);
        changed('datasets');
    }

    /* Takes the time back at which the dataset expires. */
    async keep() {
        const { name } = this.props.dataset;
        try {
            await patch(path`/v1/datasets/${name}`, { expires_in: null });
        } catch (error) {
            this.setState({ error });
            return;
        }
        announce(`${name} is kept`);
        changed('datasets');
    }

    tab(name) {
        const { dataset, query } = this.props;
        switch (name) {
        case 'rows':
            return h(RowsTab, { key: dataset.version, dataset, query });
        case 'versions':
            return h(VersionsTab, { dataset });
        case 'append':
            return h('section', { 'aria-label': 'Add rows' }, [
                h('p', { class: 'minor' }, 'Columns are found by their names. A file without ' +
                    'names must have all columns in their order. The rows make a new version.'),
                h(AddData, {
                    target: dataset.name, label: 'Drop a file with further rows, or choose it',
                }),
            ]);
        default:
            return h(ColumnsTab, { dataset, query });
        }
    }

    render({ dataset, etag, query }, { editing, deleting, error }) {
        const { name, description, tags, version } = dataset;
        const chosen = Object.hasOwn(TABS, query.tab) ? query.tab : 'columns';
        const old = query.version !== undefined && query.version !== '';
        const trained = old ? `${name}@${version}` : name;
        const close = () => this.setState({ editing: false, deleting: false });
        return h('section', { class: 'stack', 'aria-label': name }, [
            h('div', {}, [
                h('p', { class: 'minor' }, h('a', { href: link(['data']) }, '← All tables')),
                h('div', { class: 'head' }, [
                    h('h1', {}, name),
                    h('div', { class: 'buttons' }, [
                        h('a', {
                            class: 'button primary', href: link(['train'], { dataset: trained }),
                        }, 'Train a model with this data'),
                        h(Download, { dataset }),
                        h(ScopedButton, {
                            scope: 'write', class: 'danger',
                            onClick: () => this.setState({ deleting: true }),
                        }, 'Delete'),
                    ]),
                ]),
                description ? h('p', { class: 'prose' }, description) : null,
                h('div', { class: 'tags' }, [
                    ...tags.map((tag) => h('a', {
                        class: 'badge', href: link(['data'], { find: tag }),
                    }, tag)),
                    h(ScopedButton, {
                        scope: 'write', brief: true, class: 'quiet',
                        onClick: () => this.setState({ editing: true }),
                    }, description || tags.length ? 'Edit description and tags'
                        : 'Add a description or tags'),
                ]),
            ]),
            old ? h('p', { class: 'warnings' }, [
                `This is version ${version}. `, h('a', { href: link(['data', name]) },
                    'Show the newest one'),
            ]) : null,
            dataset.expires_at ? h('div', { class: 'warnings' }, [
                h('p', {}, `It is deleted with all its versions on ${time(dataset.expires_at)}.`),
                h(ScopedButton, { scope: 'write', onClick: () => this.keep() }, 'Keep it'),
            ]) : null,
            error ? h(Problem, { error }) : null,
            h(Facts, { dataset }),
            h(Differences, { dataset }),
            chosen === 'columns' ? h(Warnings, {
                title: 'What was noticed while reading', warnings: warningsOf(dataset.notes),
            }) : null,
            h('div', {}, [
                h(Tabs, {
                    label: 'Parts of the dataset', chosen,
                    tabs: Object.entries(TABS).filter(([tab]) => !old || tab !== 'append')
                        .map(([tab, label]) => ({
                            name: tab, label,
                            href: link(['data', name], {
                                version: old ? version : '', tab: tab === 'columns' ? '' : tab,
                            }),
                        })),
                }),
                this.tab(chosen),
            ]),
            editing ? h(DescriptionDialog, {
                kind: 'datasets', thing: dataset, etag, onClose: close,
                hint: 'What a row is, and where the table is from.',
            }) : null,
            deleting ? h(Confirm, {
                title: `Delete “${name}”?`, label: 'Delete the table', onClose: close,
                text: 'All of its versions are deleted. Models that were trained with it stay.',
                run: () => this.remove(),
            }) : null,
        ]);
    }
}

function warningsOf(notes) {
    const all = [...(notes.warnings || []), ...(notes.append?.warnings || [])];
    const different = [...new Set(all)];
    return different.length > MOST_WARNINGS
        ? [...different.slice(0, MOST_WARNINGS), `and ${different.length - MOST_WARNINGS} more`]
        : different;
}

export function DatasetPage({ name, query }) {
    const where = query.version ? path`/v1/datasets/${name}/versions/${query.version}`
        : path`/v1/datasets/${name}`;
    return h(Loaded, {
        title: name, home: 'data', what: `“${name}”`, kinds: ['datasets'], of: where,
        load: async (signal) => {
            const response = await call('GET', where, { signal });
            return { dataset: await response.json(), etag: response.headers.get('ETag') };
        },
        show: ({ dataset, etag }) => h(Page, { dataset, etag, query }),
    });
}
