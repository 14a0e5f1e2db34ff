/* How a body is read: the options of an upload that the page sets, as query parameters. */
import { plainName } from '../../base/format.js';

export const DEFAULTS = {
    header: 'auto', delimiter: 'auto', decimal: 'auto', thousands: 'none', encoding: '',
    missing: '', skip_rows: '', comment: '', strip: '', names: '', duplicates: 'reject',
    on_error: 'reject', label: '', zero_based: '', types: {},
};

/* Settings after which a table may have other columns. */
const OF_STRUCTURE = ['header', 'delimiter', 'encoding', 'skip_rows', 'comment', 'names',
    'duplicates', 'label', 'zero_based', 'on_error'];

export function structureOf(settings) {
    return JSON.stringify(OF_STRUCTURE.map((name) => settings[name]));
}

/* A name in a list of names, or of names with types. */
export function listed(name) {
    return /[",:]|^\s|\s$/.test(name) ? `"${name.replace(/"/g, '""')}"` : name;
}

export function typesText(types) {
    return Object.entries(types).map(([name, type]) => `${listed(name)}:${type}`).join(',');
}

/* The query of an upload: settings that differ from the defaults. An append takes no types. */
export function queryOf(settings, append = false) {
    const query = {};
    for (const [name, value] of Object.entries(settings)) {
        if (name !== 'types' && value !== DEFAULTS[name]) {
            query[name] = value;
        }
    }
    if (!append) {
        query.types = typesText(settings.types) || undefined;
    }
    return query;
}

const HINTED = new RegExp(`\\b(${Object.keys(DEFAULTS).filter((name) => name !== 'types')
    .join('|')})=([^\\s,;:()"]+)`, 'g');
const HINTED_TYPE = /\btypes=([^\s,:"]+):([a-z]+(?:\([a-z]+\))?)/g;

/* The settings that messages of the API propose ("skip_rows=1 leaves it out"): [{name, value}]. */
export function proposals(texts, settings) {
    const found = new Map();
    for (const text of texts) {
        for (const [all, name, value] of text.matchAll(HINTED)) {
            if (settings[name] !== value) {
                found.set(all, { name, value });
            }
        }
        for (const [all, name, type] of text.matchAll(HINTED_TYPE)) {
            if (settings.types[name] !== type) {
                found.set(all, { name: 'types', value: { ...settings.types, [name]: type } });
            }
        }
    }
    return [...found].map(([text, change]) => ({ text, ...change }));
}

/* A name of a dataset made from that of a file. */
export function nameFrom(fileName) {
    const stem = fileName.replace(/\.(gz|gzip)$/i, '').replace(/\.[A-Za-z0-9]{1,10}$/, '');
    return plainName(stem).replace(/^[^A-Za-z0-9]+|[-.]+$/g, '').slice(0, 63) || 'table';
}

const NAME_RULE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/* What is wrong with a name; '': nothing. */
export function nameFault(name) {
    if (name === '') {
        return 'Give the table a name.';
    }
    if (name.length > 63) {
        return `At most 63 characters (these are ${name.length}).`;
    }
    return NAME_RULE.test(name) ? ''
        : 'Letters A–Z, digits, points, dashes and underscores; the first is a letter or digit.';
}
