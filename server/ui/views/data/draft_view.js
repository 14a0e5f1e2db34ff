/* A table that is about to be added: its preview, its settings, its name, its upload. */
import { Component, h } from '../../base/preact.js';
import { advice } from '../../base/advice.js';
import { plural } from '../../base/format.js';
import { RequestCode } from '../../parts/code.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { FaultLines } from './faults.js';
import { PreviewTable } from './preview_table.js';
import { proposals } from './settings.js';
import { SettingsForm } from './settings_form.js';
import { SourcePick, TextEntry } from './source_pick.js';
import { StoreForm } from './store_form.js';
import { draftOf } from './draft.js';
import { textSource } from './sample.js';

const EDITABLE = 1 << 20; /* bytes of a file that can be edited as text */

const ENCODINGS = { 'windows-1252': 'Windows-1252 (Western Europe)' };

/* What a proposed setting does, in words. */
function proposalText({ name, value, text }) {
    if (name === 'skip_rows') {
        return value === '1' ? 'Skip the first line' : `Skip the first ${value} lines`;
    }
    if (name === 'encoding') {
        return `Read the file as ${ENCODINGS[value] || value}`;
    }
    return name === 'duplicates' && value === 'rename' ? 'Rename columns of the same name'
        : `Use ${advice(text)}`;
}

/* Buttons for the settings that messages propose. */
function Proposals({ draft, texts }) {
    const list = proposals(texts, draft.settings)
        .filter(({ name }) => name !== 'types' || draft.mode !== 'append');
    return list.length === 0 ? null : h('div', { class: 'buttons' }, list.map((proposal) =>
        h('button', {
            type: 'button', key: proposal.text,
            onClick: () => draft.set({ [proposal.name]: proposal.value }),
        }, proposalText(proposal))));
}

/* Rows that cannot be read, and what to do. */
function Faults({ draft, onEdit }) {
    const { faults, preview, settings, error, refused, lines } = draft;
    const problem = refused || error;
    if (faults.length === 0) {
        return null;
    }
    const skipped = preview?.notes.skipped?.rows;
    const n = problem ? faults.length : skipped ?? faults.length;
    /* Without a preview, no table is left when the rows are left out. */
    const canSkip = settings.on_error === 'reject' && Boolean(preview);
    return h('section', { class: 'problem', role: 'alert', 'aria-label': 'Faults' }, [
        h('h2', {}, refused ? 'The upload was refused: nothing was stored'
            : n === 1 ? 'A row cannot be read' : `${plural(n, 'row')} cannot be read`),
        n > faults.length ? h('p', {}, `The first ${faults.length} are shown.`) : null,
        h(FaultLines, { faults, lines }),
        h('p', {}, canSkip ? 'Mend the file or the settings, or leave these rows out. Settings ' +
            'stay as they are.' : 'Mend the file or the settings. Settings stay as they are.'),
        canSkip && settings.header === 'auto' && faults.some(({ line }) => line === 1)
            ? h('p', {}, 'The first line is one of them: without it, the columns may lose ' +
                'their names.') : null,
        h(Proposals, { draft, texts: faults.map((fault) => fault.detail) }),
        h('div', { class: 'buttons' }, [
            canSkip ? h('button', {
                type: 'button', onClick: () => draft.set({ on_error: 'skip' }),
            }, 'Leave these rows out') : null,
            settings.on_error === 'reject' && ['csv', undefined].includes(preview?.format)
                ? h('button', {
                    type: 'button', onClick: () => draft.set({ on_error: 'repair' }),
                }, 'Try to repair them') : null,
            onEdit ? h('button', { type: 'button', onClick: onEdit }, 'Edit the text') : null,
        ]),
    ]);
}

/* Rows that the settings leave out or repair. */
function Noted({ draft }) {
    const noted = draft.noted().slice(0, 20);
    return noted.length === 0 ? null : h('details', { class: 'warnings' }, [
        h('summary', {}, draft.settings.on_error === 'skip' ? 'Rows that are left out'
            : 'What is repaired'),
        h(FaultLines, { faults: noted, lines: draft.lines }),
    ]);
}

/* Appended rows: columns that do not fit those of the dataset. */
function misfit({ mode, known, preview, placed }) {
    if (mode !== 'append' || placed || !known?.columns || !preview || preview.sparse ||
        known.sparse) {
        return { unknown: [], absent: [] };
    }
    const names = new Set(known.columns.map((column) => column.name));
    const given = preview.columns.map((column) => column.name);
    return {
        unknown: given.filter((name) => !names.has(name)),
        absent: [...names].filter((name) => !given.includes(name)),
    };
}

function names(list) {
    const shown = list.slice(0, 10).map((name) => `“${name}”`).join(', ');
    return list.length > 10 ? `${shown} and ${list.length - 10} more` : shown;
}

function Messages({ draft, unknown, absent }) {
    const { preview, settings, error, refused, faults } = draft;
    const warnings = (preview?.warnings || []).filter((text) =>
        settings.on_error === 'skip' || !/^\d+ rows? (was|were) left out/.test(text));
    const problem = refused || (faults.length ? null : error);
    const texts = [...warnings, problem?.message || ''];
    return h('div', { class: 'stack' }, [
        problem && !(faults.length && refused) ? h(Problem, {
            error: problem, retry: refused ? undefined : () => draft.refresh(),
        }) : null,
        unknown.length ? h('p', { class: 'problem', role: 'alert' },
            `The dataset has no column ${names(unknown)}: such rows are refused. If the first ` +
            'line is data, say so below.') : null,
        absent.length ? h('p', { class: 'warnings' },
            `The file has no column ${names(absent)}: these cells become missing values.`) : null,
        h(Warnings, { warnings }),
        h(Proposals, { draft, texts }),
    ]);
}

class DraftForm extends Component {
    constructor(props) {
        super(props);
        this.state = { editing: null };
    }

    componentDidMount() {
        this.head?.focus();
    }

    /* A button that was pressed may be gone afterwards: then the focus goes to the heading. */
    componentWillUpdate() {
        this.hadFocus = this.base?.contains(document.activeElement);
    }

    componentDidUpdate() {
        if (this.hadFocus && document.activeElement === document.body) {
            this.head?.focus({ preventScroll: true });
        }
    }

    async edit() {
        const { source, settings } = this.props.draft;
        const decoder = new TextDecoder(source.mark || settings.encoding || 'utf-8');
        const text = source.text ?? decoder.decode(await source.blob.arrayBuffer());
        this.setState({ editing: text });
    }

    async edited(text) {
        const { draft } = this.props;
        const source = await textSource(text, draft.source.name);
        draft.settings = { ...draft.settings, encoding: '' }; /* the text is UTF-8 */
        this.setState({ editing: null });
        draft.take(source);
    }

    /* Why nothing can be stored yet. */
    blocked(unknown) {
        const { draft } = this.props;
        if (draft.source.foreign) {
            return 'This file is no table.';
        }
        if (draft.busy || (!draft.preview && !draft.error)) {
            return 'Reading the first rows …';
        }
        if (draft.error) {
            return draft.error.status === 0 ? 'The daemon does not answer.'
                : [401, 403].includes(draft.error.status) ? 'The token does not permit it.'
                    : 'The file cannot be read like this: see below.';
        }
        return draft.faults.length && !draft.refused
            ? 'Some rows cannot be read: see below.'
            : unknown.length ? 'Some columns do not fit: see below.' : '';
    }

    render({ draft }, { editing }) {
        const { source, preview, sending } = draft;
        if (editing !== null) {
            return h(TextEntry, {
                label: `The text of “${source.name}”`, action: 'Preview the text', text: editing,
                onText: (text) => this.edited(text),
                onCancel: () => this.setState({ editing: null }),
            });
        }
        const canEdit = !source.gzip && source.size <= EDITABLE && !sending && !source.foreign;
        const onEdit = canEdit ? () => this.edit() : null;
        const { unknown, absent } = misfit(draft);
        const request = draft.request();
        return h('div', { class: `stack${draft.busy ? ' busy' : ''}` }, [
            h('div', { class: 'head' }, [
                h('h2', { tabindex: '-1', ref: (head) => { this.head = head; } }, source.name),
                sending ? null : h('div', { class: 'buttons' }, [
                    onEdit ? h('button', { type: 'button', onClick: onEdit },
                        'Edit the text') : null,
                    h('button', { type: 'button', onClick: () => draft.update({ source: null }) },
                        'Choose another file'),
                    h('button', { type: 'button', onClick: () => draft.clear() }, 'Discard'),
                ]),
            ]),
            h(StoreForm, { draft, blocked: this.blocked(unknown) }),
            source.foreign ? h('p', { class: 'problem', role: 'alert' },
                `“${source.name}” is ${source.foreign}. Save the sheet as CSV in the program ` +
                'that made it, and choose that file.') : null,
            sending || source.foreign ? null : h('div', { class: 'stack' }, [
                h(Faults, { draft, onEdit }),
                h(Messages, { draft, unknown, absent }),
                h(Noted, { draft }),
                preview ? h(PreviewTable, { draft }) : null,
                !preview && !draft.error
                    ? h('p', { class: 'loading' }, 'Reading the first rows …') : null,
                h(SettingsForm, { draft }),
                h(RequestCode, { request: { ...request, file: source.text === undefined
                    ? source.name : 'table.csv' } }),
            ]),
        ]);
    }
}

/* What is added: where it comes from, then the draft. target: name of the dataset that gets the
 * rows; null: any. label: of the place for files; children: shown unless a draft is edited. */
export class AddData extends Component {
    constructor(props) {
        super(props);
        this.draft = draftOf(props.target);
    }

    componentDidMount() {
        this.end = this.draft.changes.listen(() => this.setState({}));
    }

    componentWillUnmount() {
        this.end();
    }

    render({ label, children }) {
        const { draft } = this;
        return h('div', { class: 'stack' }, [
            draft.source ? h(DraftForm, { draft })
                : h(SourcePick, {
                    label, target: draft.target, onSource: (source) => draft.take(source),
                }),
            ...(draft.source && !draft.sending ? [] : children),
        ]);
    }
}
