/* The name of a draft, what happens if it exists, and the upload with its progress. */
import { h } from '../../base/preact.js';
import { bytes, percent, plural, seconds } from '../../base/format.js';
import { Radios, TextField } from '../../parts/fields.js';
import { Progress } from '../../parts/progress.js';
import { ScopedButton } from '../../parts/scoped.js';
import { nameFault } from './settings.js';

function freeName(name) {
    const [, stem, number] = /^(.*?)(?:-(\d+))?$/.exec(name);
    return `${stem.slice(0, 58)}-${number ? Number(number) + 1 : 2}`;
}

function Sending({ draft }) {
    const { sent, total, speed } = draft.sending;
    const left = speed ? (total - sent) / speed : null;
    const text = sent >= total ? 'All is sent. The daemon stores the table …'
        : `${bytes(sent)} of ${bytes(total)}` +
            (speed ? `, ${bytes(speed)} a second, ${seconds(Math.ceil(left))} left` : '');
    return h('div', { class: 'stack' }, [
        h(Progress, {
            label: 'Upload', share: total ? sent / total : null,
            text: `${total ? percent(sent / total, 0) : ''} · ${text}`,
        }),
        h('div', { class: 'buttons' }, [
            h('button', { type: 'button', onClick: () => draft.cancelUpload.abort() },
                'Cancel the upload'),
            h('span', { class: 'minor' }, 'You can look at other views meanwhile.'),
        ]),
    ]);
}

const LABELS = {
    new: 'Store this table', version: 'Store as a new version', append: 'Append these rows',
};

/* blocked: why nothing can be stored yet; '': it can. */
export function StoreForm({ draft, blocked }) {
    const { name, known, mode, target, preview, sending } = draft;
    const fault = target ? '' : nameFault(name);
    const stops = blocked || (known && mode === 'new'
        ? 'Choose what shall become of this file.' : '');
    const send = (event) => {
        event.preventDefault();
        if (!fault && !stops) {
            void draft.send();
        }
    };
    const rows = preview && draft.sample?.whole ? plural(preview.judged.rows, 'row') : '';
    return h('section', { class: 'card', 'aria-label': 'Store' }, sending
        ? h(Sending, { draft })
        : h('form', { class: 'stack', onSubmit: send, novalidate: true }, [
            h('div', { class: 'store-fields' }, [
                target ? null : h(TextField, {
                    label: 'Name of the table', value: name, error: fault,
                    hint: known ? `There is a table “${name}” (version ${known.version}).`
                        : 'You find it again by this name.',
                    onInput: (value) => draft.setName(value),
                }),
                h('div', { class: target ? 'buttons bare' : 'buttons' }, [
                    h(ScopedButton, {
                        scope: 'write', names: [name], type: 'submit', class: 'primary',
                        disabled: Boolean(fault || stops),
                    }, LABELS[mode]),
                    h('span', { class: 'minor', role: 'status' }, stops ||
                        [rows, bytes(draft.source.size)].filter(Boolean).join(', ')),
                ]),
            ]),
            known && !target ? h(Radios, {
                label: `“${name}” exists. What shall become of this file?`,
                value: mode === 'new' ? '' : mode,
                options: [
                    {
                        value: 'version', label: 'A new version',
                        hint: 'It replaces the table; earlier versions are kept.',
                    },
                    { value: 'append', label: 'Further rows of the same table' },
                    { value: 'other', label: `A table of its own: ${freeName(name)}` },
                ],
                onChange: (value) => (value === 'other' ? draft.setName(freeName(name))
                    : draft.setMode(value)),
            }) : null,
        ]));
}
