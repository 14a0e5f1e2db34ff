/* A field for a parameter of a method, as the catalogue of the API describes it. */
import { h } from '../../base/preact.js';
import { count } from '../../base/format.js';
import { escape } from './request.js';
import { BoundCheck, BoundChoice, BoundNumber } from './bound.js';

const limit = (x) => (Number.isInteger(x) && Math.abs(x) < 1e12 ? count(x) : String(x));

/* The values that a number may have, in words. */
function rangeText(p) {
    const { minimum, maximum } = p;
    const low = minimum === null || minimum === undefined ? null
        : p.exclusive_minimum ? `above ${limit(minimum)}` : `${limit(minimum)} or more`;
    const high = maximum === null || maximum === undefined ? null
        : p.exclusive_maximum ? `below ${limit(maximum)}` : `at most ${limit(maximum)}`;
    const words = p.choices || (p.word ? [p.word] : []);
    return [
        p.type === 'integer' || p.integers ? 'a whole number' : null,
        low && high && !p.exclusive_minimum && !p.exclusive_maximum
            ? `${limit(minimum)} to ${limit(maximum)}` : [low, high].filter(Boolean).join(', '),
        words.length ? `or ${words.join(', ')}` : null,
    ].filter(Boolean).join(', ').replace(', or', ' or');
}

function defaultText(p) {
    return p.default === null || p.default === undefined ? p.null_means || 'none'
        : String(p.default);
}

/* A meaning is one line at first, with the whole text behind it. */
function Meaning({ parameter, chosen }) {
    const { meaning, choice_meanings: choices } = parameter;
    const [first] = /^.*?\.(?= |$)/.exec(meaning) || [meaning];
    const more = first.length < meaning.length || choices;
    return h('div', { class: 'hint' }, [
        chosen && choices?.[chosen] ? h('p', {}, [h('strong', {}, chosen), `: ${
            choices[chosen]}`]) : null,
        more ? h('details', {}, [
            h('summary', {}, first),
            first.length < meaning.length ? h('p', {}, meaning) : null,
            choices ? h('dl', { class: 'meanings' }, Object.entries(choices).map(([name, text]) =>
                [h('dt', {}, name), h('dd', {}, text)])) : null,
        ]) : h('p', {}, meaning),
    ]);
}

/* `at`: the pointer of the parameter in the request. */
export function Parameter({ form, parameter: p, at }) {
    const pointer = `${at}/${escape(p.name)}`;
    const value = form.get(pointer);
    if (p.type === 'object') {
        return h(ObjectParameter, { form, parameter: p, pointer, value });
    }
    const label = p.name;
    const field = p.type === 'boolean'
        ? h(BoundCheck, { form, at: pointer, label, byDefault: p.default === true })
        : p.type === 'choice'
            ? h(BoundChoice, {
                form, at: pointer, label, absent: `${defaultText(p)} (default)`,
                options: p.choices.filter((c) => c !== p.default),
            })
            : h(BoundNumber, {
                form, at: pointer, label, placeholder: defaultText(p), hint: p.type === 'list'
                    ? listText(p) : rangeText(p),
                list: p.choices,
            });
    return h('div', { class: 'parameter' }, [
        field, h(Meaning, { parameter: p, chosen: p.type === 'choice' ? value : null }),
    ]);
}

function listText(p) {
    const words = p.choices?.length ? `${p.choices.join(', ')}, or ` : '';
    const sample = p.matrix ? '[[1, 0], [0, 1]]' : p.integers ? '[64, 32]' : '[0.2, 0.8]';
    return `${words}a list such as ${sample}`;
}

/* A choice with members of its own, such as a kernel. */
function ObjectParameter({ form, parameter: p, pointer, value }) {
    const isObject = value !== null && typeof value === 'object';
    const type = (isObject ? value.type : value) ?? p.default;
    const members = p.members.filter((m) => !m.applies_to || m.applies_to.includes(type));
    /* The members are set in an object, which a word becomes when the first one is set. */
    const inner = {
        ...form,
        set: (at, member) => {
            const name = at.slice(pointer.length + 1);
            const { [name]: before, ...rest } = isObject ? value : { type };
            const next = member === undefined ? rest : { ...rest, [name]: member };
            form.set(pointer, Object.keys(next).length > 1 ? next
                : next.type === p.default ? undefined : next.type);
        },
    };
    const choice = {
        ...form,
        get: () => (type === p.default ? undefined : type),
        set: (at, chosen) => form.set(pointer, chosen),
        error: () => (isObject ? '' : form.error(pointer)),
    };
    return h('fieldset', { class: 'wide' }, [
        h('legend', {}, p.name),
        h('div', { class: 'fields' }, [
            h('div', { class: 'parameter' }, [
                h(BoundChoice, {
                    form: choice, at: pointer, label: `type of ${p.name}`,
                    absent: `${defaultText(p)} (default)`,
                    options: p.choices.filter((c) => c !== p.default),
                }),
                h(Meaning, { parameter: p, chosen: type }),
            ]),
            ...members.map((m) => h(Parameter, {
                key: m.name, form: inner, parameter: m, at: pointer,
            })),
        ]),
    ]);
}
