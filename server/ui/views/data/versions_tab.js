/* The versions of a dataset. */
import { Component, h } from '../../base/preact.js';
import { list, path, remove } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { bytes, count, time } from '../../base/format.js';
import { go, link } from '../../base/place.js';
import { Confirm } from '../../parts/dialog.js';
import { Loaded } from '../../parts/loaded.js';
import { Problem } from '../../parts/problem.js';
import { announce } from '../../parts/status.js';
import { DataTable } from '../../parts/table.js';
import { ScopedButton } from '../../parts/scoped.js';
import { Download } from './download.js';

const FIELDS = 'name,version,rows,n_columns,bytes,created_at,submitted_by,sparse,notes';
const MOST = 2000;

/* How a version came to be. */
function origin({ version, notes }) {
    return notes.append ? `${count(notes.append.rows)} rows were added`
        : version === 1 ? 'first upload' : 'upload';
}

export class VersionsTab extends Component {
    constructor(props) {
        super(props);
        this.state = { deleting: null, error: null };
    }

    async remove(version, only) {
        const { name } = this.props.dataset;
        this.setState({ deleting: null, error: null });
        try {
            await remove(path`/v1/datasets/${name}/versions/${version}`);
        } catch (error) {
            this.setState({ error });
            return;
        }
        announce(`Version ${version} of ${name} was deleted`);
        go(['data', ...(only ? [] : [name])], only ? {} : { tab: 'versions' });
        changed('datasets');
    }

    columns(newest) {
        const { name, version: shown } = this.props.dataset;
        return [
            {
                name: 'version', label: 'Version',
                cell: ({ version }) => h('span', { class: 'nowrap' }, [
                    h('a', {
                        href: link(['data', name], { version: version === newest ? '' : version }),
                    }, `Version ${version}`),
                    version === shown ? h('span', { class: 'minor' }, ' shown here') : null,
                ]),
            },
            { name: 'rows', label: 'Rows', numeric: true, cell: (d) => count(d.rows) },
            {
                name: 'n_columns', label: 'Columns', numeric: true,
                cell: (d) => count(d.n_columns),
            },
            { name: 'bytes', label: 'Size', numeric: true, cell: (d) => bytes(d.bytes) },
            {
                name: 'created_at', label: 'Stored',
                cell: (d) => h('span', { class: 'nowrap' }, time(d.created_at)),
            },
            { name: 'origin', label: 'By', value: origin, cell: (d) => h('span', {}, [
                origin(d), d.submitted_by ? ` by ${d.submitted_by}` : '',
            ]) },
            {
                name: 'actions', label: 'Actions', sort: false,
                cell: (version) => h('span', { class: 'buttons' }, [
                    h(Download, { dataset: version }),
                    h(ScopedButton, {
                        scope: 'write', brief: true, class: 'danger',
                        'aria-label': `Delete version ${version.version}`,
                        onClick: () => this.setState({ deleting: version.version }),
                    }, 'Delete'),
                ]),
            },
        ];
    }

    show(items, { deleting, error }) {
        const newest = items[items.length - 1].version;
        const only = items.length === 1;
        return h('div', { class: 'stack' }, [
            error ? h(Problem, { error }) : null,
            h(DataTable, {
                caption: 'Versions', columns: this.columns(newest), rows: [...items].reverse(),
            }),
            h('p', { class: 'minor' }, 'A version never changes. Jobs and calls name one as ' +
                `${this.props.dataset.name}@${newest}; without a number they use the newest.`),
            deleting !== null ? h(Confirm, {
                title: `Delete version ${deleting}?`, label: 'Delete the version',
                text: only ? 'It is the only version: the whole table is deleted.'
                    : deleting === newest ? 'The version before it becomes the newest.'
                        : 'Other versions keep their rows.',
                run: () => this.remove(deleting, only),
                onClose: () => this.setState({ deleting: null }),
            }) : null,
        ]);
    }

    render({ dataset }, state) {
        const where = path`/v1/datasets/${dataset.name}/versions`;
        return h(Loaded, {
            what: 'the versions', kinds: ['datasets'], of: where,
            load: (signal) => list(where, { query: { fields: FIELDS }, most: MOST, signal }),
            show: (items) => this.show(items, state),
        });
    }
}
