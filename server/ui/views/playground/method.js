/* The method of a free drawing: chosen from the catalogue, with all its parameters as fields. */
import { Component, h } from '../../base/preact.js';
import { get, path } from '../../base/api.js';
import { Choice, NumberField, TextField } from '../../parts/fields.js';
import { Loaded } from '../../parts/loaded.js';

/* Shown first, if the method has them. */
const USUAL = ['kernel', 'C', 'nu', 'lambda', 'covariance', 'k', 'layers', 'criterion', 'penalty',
    'threshold', 'multiclass'];
/* Kernels that are not for two numbers. */
const OTHER_KERNELS = ['shared_words', 'shared_paths', 'precomputed'];
/* Parameters that cannot change the picture. */
const UNSEEN = ['cache_mib', 'statistics', 'irls'];

const INPUTS = {
    plain: { label: 'x and y', features: {} },
    quadratic: {
        label: 'x, y, x², x·y, y²', features: { basis: [{ type: 'polynomial', degree: 2 }] },
    },
    cubic: {
        label: 'all products up to degree 3',
        features: { basis: [{ type: 'polynomial', degree: 3 }] },
    },
    quintic: {
        label: 'all products up to degree 5',
        features: { basis: [{ type: 'polynomial', degree: 5 }] },
    },
    bumps: {
        label: '9 Gaussian bumps', features: { basis: [{ type: 'gaussian', centres: 9 }] },
    },
    waves: {
        label: '100 random waves', features: { basis: [{ type: 'random_fourier', features: 100 }] },
    },
};

const FIRST_METHOD = { algorithm: 'logistic', inputs: 'plain', scaled: '', params: {} };

/* "10" is a number, "[4, 2]" a list, "auto" a word. */
function valueOf(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

/* The request of a method. params: texts by name; "kernel.width" is a member of kernel. */
export function requestOf({ algorithm, inputs, scaled, params }) {
    const result = {};
    for (const [name, text] of Object.entries(params)) {
        const [outer, inner] = name.split('.');
        if (text.trim() === '') {
            continue;
        }
        if (inner === undefined) {
            result[outer] = valueOf(text);
        } else {
            result[outer] = { ...result[outer], [inner]: valueOf(text) };
        }
    }
    const features = { ...INPUTS[inputs]?.features };
    if (scaled !== '') {
        features.standardize = scaled === 'yes';
    }
    return { algorithm, params: result, features };
}

/* The method in the query of a place and back. */
export function methodQuery({ algorithm, inputs, scaled, params }) {
    const query = { method: algorithm, inputs: inputs === 'plain' ? '' : inputs, scaled };
    for (const [name, text] of Object.entries(params)) {
        query[`p.${name}`] = text;
    }
    return query;
}

/* The method of a request, as requestOf makes it. */
export function methodFrom({ algorithm, params = {}, features = {} }) {
    const texts = {};
    const textOf = (v) => (typeof v === 'string' ? v : JSON.stringify(v));
    for (const [name, value] of Object.entries(params)) {
        if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
            for (const [inner, v] of Object.entries(value)) {
                texts[`${name}.${inner}`] = textOf(v);
            }
        } else {
            texts[name] = textOf(value);
        }
    }
    const basis = JSON.stringify(features.basis);
    const inputs = Object.keys(INPUTS)
        .find((key) => JSON.stringify(INPUTS[key].features.basis) === basis) || 'plain';
    const scaled = features.standardize === undefined ? '' : features.standardize ? 'yes' : 'no';
    return { algorithm, inputs, scaled, params: texts };
}

export function methodOf(query) {
    const params = {};
    for (const [name, text] of Object.entries(query)) {
        if (name.startsWith('p.')) {
            params[name.slice(2)] = text;
        }
    }
    return {
        algorithm: query.method || FIRST_METHOD.algorithm,
        inputs: Object.hasOwn(INPUTS, query.inputs) ? query.inputs : 'plain',
        scaled: query.scaled || '', params,
    };
}

/* What a field may hold: the range, the default. */
function rangeOf(p) {
    const parts = [];
    if (typeof p.minimum === 'number') {
        parts.push(`${p.exclusive_minimum ? 'above' : 'at least'} ${p.minimum}`);
    }
    if (typeof p.maximum === 'number') {
        parts.push(`${p.exclusive_maximum ? 'below' : 'at most'} ${p.maximum}`);
    }
    return parts.join(', ');
}

/* Why a text is no value of a parameter; '' if it is one. */
function faultOf(p, text) {
    const words = ['', p.word, ...(p.choices || [])];
    if (p.type === 'boolean' || words.includes(text.trim())) {
        return '';
    }
    const value = valueOf(text);
    if (p.type === 'list') {
        return Array.isArray(value) ? '' : 'a list of numbers such as [8, 4]';
    }
    const { minimum, maximum } = p;
    const low = typeof minimum === 'number' &&
        (p.exclusive_minimum ? value <= minimum : value < minimum);
    const high = typeof maximum === 'number' &&
        (p.exclusive_maximum ? value >= maximum : value > maximum);
    if (typeof value !== 'number' || low || high ||
        (p.type === 'integer' && !Number.isInteger(value))) {
        const kind = p.type === 'integer' ? 'a whole number' : 'a number';
        return [kind, rangeOf(p), p.word ? `or ${p.word}` : ''].filter(Boolean).join(', ');
    }
    return '';
}

function firstSentence(text) {
    return text.split(/(?<=[a-z0-9)])[.:;] /)[0];
}

/* One parameter. name: its key in params. A text that is no value of it stays in the field and is
 * not used. */
class Parameter extends Component {
    constructor(props) {
        super(props);
        this.state = { draft: null };
    }

    set(text) {
        const { p, name, params, onChange } = this.props;
        if (faultOf(p, text)) {
            this.setState({ draft: text });
        } else {
            this.setState({ draft: null });
            onChange({ ...params, [name]: text });
        }
    }

    render({ p, name, params, errors }, { draft }) {
        const value = draft ?? params[name] ?? '';
        const field = {
            label: p.name, value,
            error: draft === null ? errors[name] : `must be ${faultOf(p, draft)}`,
        };
        const usual = typeof p.default === 'object' ? JSON.stringify(p.default) : String(p.default);
        if (p.type === 'choice' || p.type === 'boolean') {
            const choices = p.type === 'boolean' ? ['true', 'false'] : p.choices;
            return h(Choice, {
                ...field, onChange: (text) => this.set(text),
                hint: p.choice_meanings ? firstSentence(p.choice_meanings[value || p.default] || '')
                    : firstSentence(p.meaning),
                options: [{ value: '', label: `${usual} (default)` },
                    ...choices.filter((c) => c !== usual).map((c) => ({ value: c, label: c }))],
            });
        }
        return h(p.type === 'list' ? TextField : NumberField, {
            ...field, onInput: (text) => this.set(text), placeholder: usual,
            hint: [firstSentence(p.meaning), rangeOf(p)].filter(Boolean).join('; '),
        });
    }
}

/* The kernel: its type, and the members of this type. */
function kernelFields(p, { params, errors, onChange }) {
    const key = `${p.name}.type`;
    const type = params[key] || p.default;
    const choose = (text) => {
        const rest = Object.entries(params).filter(([name]) => !name.startsWith(`${p.name}.`));
        onChange({ ...Object.fromEntries(rest), [key]: text });
    };
    return [
        h(Choice, {
            key, label: 'Kernel', value: type, error: errors[p.name] || errors[key],
            hint: p.choice_meanings[type], onChange: choose,
            options: p.choices.filter((c) => !OTHER_KERNELS.includes(c)),
        }),
        ...p.members.filter((m) => m.applies_to.includes(type) && m.name !== 'length')
            .map((m) => h(Parameter, {
                key: m.name, p: m, name: `${p.name}.${m.name}`, params, errors, onChange,
            })),
    ];
}

function parameterFields(list, props) {
    return list.flatMap((p) => (p.type === 'object' ? kernelFields(p, props)
        : [h(Parameter, { key: p.name, p, name: p.name, ...props })]));
}

/* Whether a parameter can be given beside the others: p.needs has choices of others. */
function fits(p, entry, params) {
    return Object.entries(p.needs || {}).every(([of, choices]) => {
        const usual = entry.parameters.find(({ name }) => name === of)?.default;
        return choices.includes(params[of] || params[`${of}.type`] || String(usual));
    });
}

/* The texts of the parameters that can be given. */
function fitting(entry, params) {
    return Object.fromEntries(Object.entries(params).filter(([name]) => {
        const p = entry.parameters.find((q) => q.name === name.split('.')[0]);
        return !p || fits(p, entry, params);
    }));
}

function MethodFields({ entry, method, errors, onChange }) {
    const rank = (p) => USUAL.indexOf(p.name);
    const all = entry.parameters.filter((p) => !UNSEEN.includes(p.name) &&
        fits(p, entry, method.params));
    const usual = all.filter((p) => rank(p) >= 0).sort((a, b) => rank(a) - rank(b));
    const rest = all.filter((p) => rank(p) < 0);
    const props = {
        params: method.params, errors,
        onChange: (params) => onChange({ ...method, params: fitting(entry, params) }),
    };
    return h('div', { class: 'stack' }, [
        h('p', { class: 'minor' }, entry.summary),
        h('div', { class: 'fields' }, [
            ...parameterFields(usual, props),
            h(Choice, {
                label: 'Inputs', value: method.inputs,
                hint: 'What the method gets in place of x and y (basis functions).',
                options: Object.entries(INPUTS).map(([value, { label }]) => ({ value, label })),
                onChange: (inputs) => onChange({ ...method, inputs }),
            }),
        ]),
        h('details', {}, [
            h('summary', {}, 'All settings'),
            h('div', { class: 'fields play-more' }, [
                ...parameterFields(rest, props),
                h(Choice, {
                    label: 'Scale the inputs', value: method.scaled,
                    hint: 'To mean 0 and standard deviation 1, before the training.',
                    options: [{ value: '', label: 'as the method does by default' },
                        { value: 'yes', label: 'yes' }, { value: 'no', label: 'no' }],
                    onChange: (scaled) => onChange({ ...method, scaled }),
                }),
            ]),
        ]),
    ]);
}

/* The errors of a refused request by the keys of params: "/params/kernel/width" is
 * "kernel.width". */
function errorsOf(error) {
    const errors = {};
    for (const { pointer, detail } of error?.document?.errors || []) {
        const [, name] = /^\/params\/(.*)$/.exec(pointer || '') || [];
        if (name) {
            errors[name.replace(/\//g, '.')] = detail;
        }
    }
    return errors;
}

/* method: as FIRST_METHOD; error: of its last training. */
export function Method({ method, error, onChange }) {
    const choose = (algorithm) => onChange({ ...FIRST_METHOD, inputs: method.inputs, algorithm });
    const settings = h(Loaded, {
        what: 'its settings', of: method.algorithm,
        load: (signal) => get(path`/v1/algorithms/${method.algorithm}`, { signal }),
        show: (entry) => h(MethodFields, { entry, method, errors: errorsOf(error), onChange }),
    });
    return h('section', { class: 'card', 'aria-label': 'Method' }, h(Loaded, {
        what: 'the methods', load: (signal) => get('/v1/algorithms', { signal }),
        show: ({ items }) => h('div', { class: 'stack' }, [
            h(Choice, {
                label: 'Method', value: method.algorithm, onChange: choose,
                options: items.map(({ id, title }) => ({ value: id, label: title })),
            }),
            settings,
        ]),
    }));
}
