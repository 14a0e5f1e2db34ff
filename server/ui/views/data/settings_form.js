/* The settings of a draft: how its file is read. */
import { h } from '../../base/preact.js';
import { FIELDS } from '../../base/advice.js';
import { Check, Choice, TextField } from '../../parts/fields.js';

const DELIMITERS = [
    ['comma', 'comma ,'], ['semicolon', 'semicolon ;'], ['tab', 'tab'], ['pipe', 'bar |'],
    ['space', 'blanks'],
];
const NAMES = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar', ' ': 'blanks' };
const ENCODINGS = ['utf-8', 'windows-1252', 'iso-8859-15', 'utf-16', 'windows-1250',
    'windows-1251', 'shift_jis', 'gb18030', 'euc-kr', 'big5'];

const options = (list) => list.map(([value, label]) => ({ value, label }));
const found = (text) => (text ? `find out: ${text}` : 'find out');

/* "a, b" as the API takes it. */
const words = (text) => text.split(',').map((word) => word.trim()).join(',');

/* The message of a refused setting, by its name. */
function faultOf(draft, name) {
    const detail = draft.error?.document?.detail || '';
    return detail.startsWith(`parameter "${name}"`) ? detail.slice(name.length + 13) : undefined;
}

export function SettingsForm({ draft }) {
    const { settings, preview } = draft;
    const notes = preview?.notes || {};
    const append = draft.mode === 'append';
    const choice = (name, list, hint) => h(Choice, {
        label: FIELDS[name].label, value: settings[name], options: options(list), hint,
        error: faultOf(draft, name),
        onChange: (value) => draft.set({ [name]: value }),
    });
    const text = (name, more) => h(TextField, {
        label: FIELDS[name].label, value: settings[name], error: faultOf(draft, name), ...more,
        onInput: (value) => draft.type({ [name]: more?.clean ? more.clean(value) : value }),
    });
    const header = notes.header === undefined ? ''
        : notes.header ? 'names' : 'data';
    return h('section', { class: 'card', 'aria-label': 'How the file is read' }, [
        h('h2', {}, 'How the file is read'),
        h('div', { class: 'fields' }, [
            choice('header', [
                ['auto', found(header)], ['true', 'has the names of the columns'],
                ['false', 'is data'], ['2', 'two lines of names'], ['3', 'three lines of names'],
            ]),
            choice('delimiter', [
                ['auto', found(NAMES[notes.delimiter] || notes.delimiter)], ...DELIMITERS,
                ...([':', '^', '~', '!', '#'].includes(settings.delimiter)
                    ? [[settings.delimiter, settings.delimiter]] : []),
            ]),
            choice('decimal', [
                ['auto', found(notes.decimal_comma ? 'comma' : '')], ['point', 'point: 3.14'],
                ['comma', 'comma: 3,14'],
            ]),
            h(TextField, {
                label: FIELDS.missing.label, placeholder: 'n/a, unknown, -9',
                value: settings.missing.replace(/,/g, ', '),
                hint: 'Empty, NA, NaN, null and ? always are.', error: faultOf(draft, 'missing'),
                onInput: (value) => draft.type({ missing: words(value) }),
            }),
            choice('on_error', [
                ['reject', 'refuse the file'], ['skip', 'leave these rows out'],
                ['repair', 'repair what can be repaired'],
            ]),
        ]),
        h('details', { class: 'more' }, [
            h('summary', {}, 'More: encoding, thousands, lines to skip'),
            h('div', { class: 'fields' }, [
                text('encoding', {
                    placeholder: 'UTF-8', list: ENCODINGS,
                    hint: 'How letters are stored. Try windows-1252 if é or ß look wrong.',
                }),
                choice('thousands', [
                    ['none', 'nothing: 1234567'], ['comma', 'comma: 1,234,567'],
                    ['point', 'point: 1.234.567'], ['apostrophe', 'apostrophe: 1\'234\'567'],
                    ['space', 'blank: 1 234 567'],
                ]),
                text('strip', {
                    placeholder: '€%', hint: 'They are removed before a number is read.',
                }),
                text('skip_rows', {
                    placeholder: '0', hint: 'Titles above the names.',
                }),
                text('comment', {
                    placeholder: '#', hint: 'Lines with this sign at their start are skipped.',
                }),
                text('names', {
                    placeholder: 'length, width, kind', clean: words,
                    hint: 'For a file without names, in its order, with commas between.',
                }),
                choice('duplicates', [
                    ['reject', 'refuse the file'], ['rename', 'call the second one name_2'],
                ]),
                notes.format === 'svmlight' || settings.label ? text('label', {
                    placeholder: 'label', hint: 'The first value of each line.',
                }) : null,
                notes.format === 'svmlight' ? h(Check, {
                    label: FIELDS.zero_based.label, checked: settings.zero_based === 'true',
                    onChange: (on) => draft.set({ zero_based: on ? 'true' : '' }),
                }) : null,
                append ? h(Check, {
                    label: FIELDS.allow_type_change.label, checked: draft.allowTypes,
                    hint: 'Otherwise a cell that does not fit its column is refused.',
                    onChange: (on) => {
                        draft.update({ allowTypes: on });
                        draft.set({});
                    },
                }) : null,
            ]),
        ]),
    ]);
}
