/* "Choose a method": the methods of the catalogue, and the parameters of the chosen one. */
import { h } from '../../base/preact.js';
import { Group } from './bound.js';
import { Parameter } from './parameter.js';

/* The first sentence of a text. */
function firstSentence(text) {
    return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

/* What a method can do, in short. */
function abilities(method) {
    const calibrated = method.parameters.some((p) => p.name === 'calibrate');
    return [
        method.needs_target ? null : 'needs no target: finds rows that are unlike the others',
        method.probabilities ? 'gives probabilities'
            : calibrated ? 'gives probabilities if calibrate is set' : 'gives scores',
        method.streams ? 'also for tables beyond the memory' : 'holds the table in memory',
        method.transform ? 'can project rows' : null,
    ].filter(Boolean).join(' · ');
}

/* The choices of other parameters that a parameter lacks, as text; '': it can be given. */
function lacks(parameter, method, params) {
    return Object.entries(parameter.needs || {}).filter(([of, choices]) => {
        const value = params[of] ?? method.parameters.find((p) => p.name === of)?.default;
        return !choices.includes(value?.type ?? value);
    }).map(([of, choices]) => `${of} ${choices.join(' or ')}`).join(', ');
}

/* The parameters that can be given or are given; the others with what they need. */
function Settings({ form, method, params }) {
    const lacking = (p) => (params[p.name] === undefined ? lacks(p, method, params) : '');
    const others = method.parameters.filter(lacking);
    return h('div', { class: 'stack' }, [
        h('div', { class: 'fields' }, method.parameters.filter((p) => !lacking(p)).map((p) =>
            h(Parameter, { key: p.name, form, parameter: p, at: '/params' }))),
        others.length ? h('div', {}, [
            h('p', { class: 'minor' }, 'With other choices there are more settings:'),
            h('ul', { class: 'minor' }, others.map((p) => h('li', { key: p.name }, [
                h('code', {}, p.name), ` needs ${lacking(p)}`,
            ]))),
        ]) : null,
        h('p', { class: 'minor' }, [
            method.stopping_rule
                ? `It stops when ${method.stopping_rule.replaceAll('`', '')}. ` : '',
            `After ${method.source}.`,
        ]),
    ]);
}

/*   methods  the catalogue
 *   onChoose called with the id of a method
 */
export function MethodSection({ form, methods, onChoose }) {
    const id = form.get('/algorithm');
    const method = methods.find((m) => m.id === id);
    const params = form.get('/params') || {};
    const changed = Object.keys(params);
    return h('div', { class: 'stack' }, [
        h('fieldset', { class: 'methods' }, [
            h('legend', {}, 'Method'),
            ...methods.map((m) => h('label', {
                key: m.id, class: m.id === id ? 'method chosen' : 'method',
            }, [
                h('input', {
                    type: 'radio', name: 'train-method', value: m.id, checked: m.id === id,
                    'aria-invalid': form.error('/algorithm') ? 'true' : null,
                    onChange: () => onChoose(m.id),
                }),
                h('strong', {}, m.title),
                h('span', { class: 'minor' }, firstSentence(m.summary)),
            ])),
        ]),
        form.error('/algorithm') ? h('p', { class: 'error' }, form.error('/algorithm')) : null,
        method ? h('div', {}, [
            h('p', {}, [h('strong', {}, method.title), ': ', method.summary]),
            h('p', { class: 'minor' }, abilities(method)),
        ]) : null,
        method ? h(Group, {
            key: method.id, title: `Settings of ${method.title}`, open: true,
            error: form.error('/params'),
            summary: changed.length ? `${changed.join(', ')} changed` : 'all at their defaults',
            show: () => h(Settings, { form, method, params }),
        }) : null,
    ]);
}
