/* Weights, decisions, sets of labels, promotion and limits. */
import { h } from '../../base/preact.js';
import { bytes, number, percent, seconds } from '../../base/format.js';
import { Choice, Radios } from '../../parts/fields.js';
import { BoundCheck, BoundChoice, BoundColumn, BoundNumber } from './bound.js';
import { METRIC_OPTIONS } from './metrics.js';
import { escape } from './request.js';

const MOST_CLASSES = 12; /* that have a field each */

/* ---- weights ---- */

export function weightsText({ weight, class_weight: classes }) {
    return [
        classes === undefined ? 'all classes as they are'
            : classes === 'balanced' ? 'all classes count the same' : 'own weights of the classes',
        weight ? `rows weighted by ${weight}` : null,
    ].filter(Boolean).join(', ');
}

/* classes: the names of the classes, null: not known. */
export function WeightsSection({ form, columns, classes }) {
    const value = form.get('/class_weight');
    const own = value !== undefined && value !== 'balanced';
    const named = classes && classes.length <= MOST_CLASSES;
    return h('div', { class: 'fields' }, [
        h(Choice, {
            label: 'Weights of the classes',
            value: own ? 'own' : value ?? '',
            options: [
                { value: '', label: 'as many as their rows' },
                { value: 'balanced', label: 'all classes count the same' },
                { value: 'own', label: 'own weights' },
            ],
            error: own ? '' : form.error('/class_weight'),
            hint: 'If one class is rare and still matters, let all classes count the same.',
            onChange: (kind) => form.set('/class_weight', kind === 'own'
                ? Object.fromEntries((named ? classes : []).map((c) => [c, 1]))
                : kind || undefined),
        }),
        ...(own && named ? classes.map((name) => h(BoundNumber, {
            key: name, form, at: `/class_weight/${escape(name)}`, label: `Weight of ${name}`,
        })) : []),
        own && !named ? h(BoundNumber, {
            form, at: '/class_weight', label: 'Weight of each class',
            hint: 'Such as {"yes": 5, "no": 1}.',
        }) : null,
        h(BoundColumn, {
            form, at: '/weight', label: 'Column of weights',
            columns: columns.filter((c) => c.type === 'numeric'),
            hint: 'A row of weight 2 pulls twice as much.',
        }),
        form.get('/weight') !== undefined || form.get('/weights') !== undefined
            ? h(BoundChoice, {
                form, at: '/weights', label: 'The weights are', absent: 'relative (default)',
                options: [{ value: 'frequencies', label: 'numbers of equal rows' }],
            }) : null,
    ]);
}

/* ---- decision ---- */

function ruleOf(decision) {
    return typeof decision === 'string' ? decision
        : ['threshold', 'maximise', 'precision_at_least', 'cost', 'reject'].find((k) =>
            decision?.[k] !== undefined) || (decision ? 'threshold' : 'none');
}

export function decisionText(decision) {
    const rule = ruleOf(decision);
    return {
        none: 'the most probable class', probabilities: 'the most probable class',
        scores: 'the class with the best score',
        threshold: `${decision?.positive ?? 'second class'} from ${decision?.threshold} on`,
        maximise: `the threshold with the best ${decision?.maximise}`,
        precision_at_least: `precision of at least ${decision?.precision_at_least}`,
        cost: 'the least expected cost', reject: `none above the risk ${decision?.reject}`,
    }[rule];
}

function Costs({ form, classes }) {
    if (!classes || classes.length > 6) {
        return h(BoundNumber, {
            form, at: '/decision/cost', label: 'Costs', wide: true,
            hint: 'The true class, then the answer: {"bad": {"good": 5}}. What is not given is 1.',
        });
    }
    const pairs = classes.reduce((all, truth) => [...all, ...classes.filter((c) => c !== truth)
        .map((answer) => [truth, answer])], []);
    return h('fieldset', { class: 'wide' }, [
        h('legend', {}, 'What errors cost'),
        h('div', { class: 'fields' }, pairs.map(([truth, answer]) => h(BoundNumber, {
            key: `${truth}/${answer}`, form, placeholder: '1',
            at: `/decision/cost/${escape(truth)}/${escape(answer)}`,
            label: `${truth} taken for ${answer}`,
        }))),
    ]);
}

export function DecisionSection({ form, classes }) {
    const decision = form.get('/decision');
    const rule = ruleOf(decision);
    const two = !classes || classes.length === 2;
    const starts = {
        none: undefined, threshold: { threshold: 0.5 }, maximise: { maximise: 'f1' },
        precision_at_least: { precision_at_least: 0.9 }, reject: { reject: 0.1 },
        cost: {
            cost: classes && classes.length > 1
                ? { [classes[1]]: { [classes[0]]: 5 } } : {},
        },
    };
    const options = [
        { value: 'none', label: 'the most probable class' },
        { value: 'cost', label: 'by what errors cost' },
        { value: 'reject', label: 'no answer if it is not sure' },
        ...(two ? [
            { value: 'threshold', label: 'by a threshold of the probability' },
            { value: 'maximise', label: 'by the threshold that is best for a metric' },
            { value: 'precision_at_least', label: 'few false alarms: a precision' },
        ] : []),
    ];
    const positive = two && ['threshold', 'maximise', 'precision_at_least'].includes(rule);
    return h('div', { class: 'fields' }, [
        h(Choice, {
            label: 'The answer is', value: rule, error: decision ? '' : form.error('/decision'),
            options: options.some((o) => o.value === rule) ? options
                : [...options, { value: rule, label: rule }],
            hint: 'It can be changed for a trained model, without training again.',
            onChange: (name) => form.set('/decision', starts[name]),
        }),
        positive ? h(BoundChoice, {
            form, at: '/decision/positive', label: 'Class to find', absent: 'the second class',
            options: classes || [],
        }) : null,
        rule === 'threshold' ? h(BoundNumber, {
            form, at: '/decision/threshold', label: 'Threshold',
            hint: 'From 0 to 1: the class is the answer if it is at least so probable.',
        }) : null,
        rule === 'maximise' ? h(BoundChoice, {
            form, at: '/decision/maximise', label: 'Metric', options: [
                { value: 'f1', label: 'F1: precision and recall together' },
                { value: 'youden', label: 'Youden: right in both classes' },
                { value: 'mcc', label: 'Matthews correlation' },
                { value: 'accuracy', label: 'accuracy: share of right answers' },
            ],
            hint: 'Computed from the rows that are kept aside.',
        }) : null,
        rule === 'precision_at_least' ? h(BoundNumber, {
            form, at: '/decision/precision_at_least', label: 'Precision of at least',
            hint: 'So many of the answers are right; then as many rows as possible are found.',
        }) : null,
        rule === 'cost' ? h(Costs, { form, classes }) : null,
        rule === 'cost' || rule === 'reject' ? h(BoundNumber, {
            form, at: '/decision/reject', label: 'No answer above the risk',
            placeholder: 'always an answer',
            hint: 'The expected cost; without costs the probability that the answer is wrong.',
        }) : null,
        decision && rule !== 'none' && form.error('/decision')
            ? h('p', { class: 'error wide' }, form.error('/decision')) : null,
    ]);
}

/* ---- sets of labels ---- */

export function conformalText(conformal) {
    return conformal ? `with the true class in ${typeof conformal.coverage === 'number'
        ? percent(conformal.coverage, 0) : '?'} of the rows` : 'no';
}

export function ConformalSection({ form }) {
    const conformal = form.get('/conformal');
    return h('div', { class: 'fields' }, [
        h(BoundChoice, {
            form, at: '/conformal/coverage', label: 'The set has the true class in',
            absent: 'no sets',
            options: [0.8, 0.9, 0.95, 0.99].map((c) => ({ value: c, label: percent(c, 0) })),
            hint: 'Besides its answer the model then names all classes that are possible, with ' +
                'this guarantee (conformal prediction). It needs rows that are kept aside.',
        }),
        conformal ? h(BoundCheck, {
            form, at: '/conformal/by_class', label: 'For each class by itself',
            hint: 'So that rare classes have the guarantee, too.',
        }) : null,
        conformal && form.error('/conformal')
            ? h('p', { class: 'error wide' }, form.error('/conformal')) : null,
    ]);
}

/* ---- promotion ---- */

function promoteKind(promote) {
    return promote === undefined ? 'always' : typeof promote === 'object' ? 'if_better' : promote;
}

export function promoteText(promote) {
    const metric = promote?.if_better?.metric;
    return {
        always: 'it answers as soon as it is trained', never: 'somebody makes it live later',
        if_better: `only if it is better${metric ? ` by ${metric}` : ''}`,
    }[promoteKind(promote)];
}

export function PromoteSection({ form }) {
    const promote = form.get('/promote');
    const kind = promoteKind(promote);
    const better = typeof promote === 'object' ? promote.if_better || {} : {};
    /* {} means something here: it is "if better" by the usual metric. */
    const inner = {
        ...form,
        set: (at, value) => {
            const { [at.split('/').pop()]: before, ...rest } = better;
            const next = value === undefined ? rest : { ...rest, [at.split('/').pop()]: value };
            form.set('/promote', Object.keys(next).length ? { if_better: next } : 'if_better');
        },
    };
    return h('div', { class: 'stack' }, [
        h(Radios, {
            label: 'The new version goes live', value: kind,
            options: [
                { value: 'always', label: 'always' },
                { value: 'if_better', label: 'if it is better than the live one' },
                { value: 'never', label: 'never by itself' },
            ],
            onChange: (value) => form.set('/promote', value === 'always' ? undefined : value),
        }),
        kind === 'if_better' ? h('div', { class: 'fields' }, [
            h(BoundChoice, {
                form: inner, at: '/promote/if_better/metric', label: 'Better in',
                absent: 'accuracy: share of right answers',
                options: METRIC_OPTIONS.filter((o) => o.value !== 'accuracy'),
            }),
            h(BoundNumber, {
                form: inner, at: '/promote/if_better/by', label: 'By at least', placeholder: '0',
            }),
        ]) : null,
        kind !== 'if_better' && form.error('/promote')
            ? h('p', { class: 'error' }, form.error('/promote')) : null,
        h('p', { class: 'minor' }, 'Live: it answers predictions that name no version. The ' +
            'first version of a model is live in any case.'),
    ]);
}

/* ---- limits ---- */

export function limitsText({ limits = {}, seed, snapshots }) {
    const parts = [
        limits.seconds !== undefined ? `at most ${seconds(limits.seconds)}` : null,
        limits.memory_mib !== undefined ? `at most ${number(limits.memory_mib)} MiB` : null,
        limits.threads !== undefined ? `${number(limits.threads)} threads` : null,
        limits.ranks !== undefined ? `${number(limits.ranks)} ranks` : null,
        seed !== undefined ? `seed ${seed}` : null,
        snapshots !== undefined ? 'snapshots' : null,
    ].filter(Boolean);
    return parts.length ? parts.join(', ') : 'those of the daemon';
}

/* server: the member `server` of GET /v1/limits. */
export function LimitsSection({ form, server }) {
    const search = form.get('/search') !== undefined;
    return h('div', { class: 'fields' }, [
        h(BoundNumber, {
            form, at: '/limits/seconds', label: 'Time in seconds',
            placeholder: server.job_seconds ? number(server.job_seconds) : 'no limit',
            hint: search ? 'Of the search, and again of the last training.'
                : 'The training ends then, without a model.',
        }),
        h(BoundNumber, {
            form, at: '/limits/memory_mib', label: 'Memory in MiB',
            placeholder: server.job_memory_bytes
                ? String(Math.floor(server.job_memory_bytes / 1048576)) : 'no limit',
            hint: server.job_memory_bytes ? `At most ${bytes(server.job_memory_bytes)}.` : null,
        }),
        h(BoundNumber, {
            form, at: '/limits/threads', label: 'Threads', placeholder: 'all',
            hint: 'The result does not depend on them.',
        }),
        server.job_ranks ? h(BoundNumber, {
            form, at: '/limits/ranks', label: 'Ranks', placeholder: 'as the size of the table',
            hint: `Processes that train together, at most ${number(server.job_ranks)}. The ` +
                'result does not depend on them.',
        }) : null,
        h(BoundNumber, {
            form, at: '/seed', label: 'Seed', placeholder: '1',
            hint: 'Where chance begins. The same seed gives the same model.',
        }),
        search ? null : h(BoundNumber, {
            form, at: '/snapshots', label: 'Keep the weights of iterations', placeholder: 'none',
            hint: 'A list such as [0, 10, 100]; the job shows them.',
        }),
        search || form.get('/snapshots') === undefined ? null : h(BoundChoice, {
            form, at: '/snapshots_of', label: 'The numbers count', absent: 'iterations',
            options: [{ value: 'updates', label: 'changes of the weights (perceptron)' }],
        }),
    ]);
}
