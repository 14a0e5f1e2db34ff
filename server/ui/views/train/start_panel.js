/* What will happen: the estimate, the warnings and the problems of the request, and the button. */
import { h } from '../../base/preact.js';
import { bytes, count, percent, plural, seconds } from '../../base/format.js';
import { Fact } from '../../parts/fact.js';
import { Problem, Warnings } from '../../parts/problem.js';
import { ScopedButton } from '../../parts/scoped.js';
import { reference } from './request.js';
import { proposeTarget, singleTarget } from './target.js';

/* What the job does, in one or two sentences. `answer`: of the dry run. */
function plan(request, answer, methods) {
    const title = (id) => methods.find((m) => m.id === id)?.title ?? id;
    const rows = plural(answer.dataset.rows, 'row');
    const learns = answer.target
        ? `learns ${answer.target.name} (${plural(answer.target.classes, 'class', 'classes')}) `
        : 'learns what most rows are like ';
    const { validation } = answer;
    const test = !validation ? 'There is no test.'
        : validation.holdout ? `${percent(validation.holdout, 0)} of the rows are kept aside to ` +
            `test ${answer.search ? 'the winner' : 'the model'}.`
            : validation.folds ? 'It is tested by folds.'
                : 'It is tested on rows that it has not seen.';
    if (!answer.search) {
        return `${title(answer.algorithm)} ${learns}from ${rows}. ${test}`;
    }
    const ids = new Set(answer.search.candidates.map((c) => c.algorithm));
    return `The search ${learns}from ${rows}: it tries ${plural(answer.combinations, 'setting')} ` +
        `of ${plural(ids.size, 'method')}. ${test}`;
}

/* last: the latest job of this kind that has ended, {seconds, rows}, or null. */
function facts(answer, last) {
    const limit = answer.limits.memory_mib * 1048576;
    const columns = answer.features?.columns;
    return h('div', { class: 'facts' }, [
        answer.search ? h(Fact, {
            value: answer.search.seconds ? `≤ ${seconds(answer.search.seconds)}` : 'no limit',
            label: 'for trying, then the last training',
        }) : last ? h(Fact, {
            value: seconds(last.seconds), label: `time of job ${last.id}, the same method and data`,
        }) : answer.limits.seconds ? h(Fact, {
            value: `≤ ${seconds(answer.limits.seconds)}`, label: 'limit of the time',
        }) : null,
        h(Fact, {
            value: bytes(answer.memory_bytes), label: `memory, of ${bytes(limit)}`,
        }),
        answer.limits.ranks > 1 ? h(Fact, {
            value: count(answer.limits.ranks), label: 'processes train together',
        }) : null,
        answer.features ? h(Fact, {
            value: `${columns?.some((c) => c.at_most) ? '≤ ' : ''}${count(answer.features.count)}`,
            label: `features from ${plural(columns.length, 'column')}`,
        }) : null,
    ]);
}

/* The names of the dataset and the model of a request, as far as they are texts. */
function namesOf(request) {
    const { dataset, model } = request || {};
    return [dataset, model].filter((name) => typeof name === 'string')
        .map((name) => reference(name).name);
}

/* What to choose, for a request that is not complete yet; null: another fault. */
function choose({ pointer }, request, columns) {
    const single = proposeTarget(columns) ? undefined : singleTarget(columns);
    return pointer === '/dataset' && !request.dataset ? 'Choose the data.'
        : pointer !== '/target' || request.target ? null
            : single ? `The column “${single.name}” has one value only, and a classifier needs ` +
                'two: choose another column to predict.'
                : 'Choose the column to predict.';
}

/* Moves the focus to the first field with a problem. */
function toFirstProblem() {
    const field = document.querySelector('[aria-invalid="true"]');
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
}

/*   request   the request; null: its text is not JSON
 *   check     {answer, error} of the latest dry run; null: none yet
 *   way       'search', 'method' or 'json'
 *   columns   of the data
 *   checking  whether a newer one is on its way
 *   starting  whether the job is being posted
 *   refusal   error of the post
 *   onStart   starts the job
 */
export function StartPanel(props) {
    const { request, check, checking, starting, refusal, methods, columns, last, way } = props;
    const refused = check?.error?.status === 422;
    const errors = refused ? check.error.document.errors || [] : [];
    const state = !request ? 'The text is not JSON.'
        : checking || !check ? 'Checking …'
            : refused ? `${plural(errors.length || 1, 'thing')} to correct before it can start`
                : check.error ? 'It could not be checked' : 'Ready to start';
    const { answer } = check || {};
    return h('section', { class: 'card stack', 'aria-label': 'Start' }, [
        h('div', { class: 'buttons' }, [
            h(ScopedButton, {
                scope: 'train', names: namesOf(request), class: 'primary start',
                onClick: props.onStart,
                disabled: !request || starting || (refused && !checking),
            }, starting ? 'Starting …' : request?.search ? 'Start the search'
                : 'Start the training'),
            h('span', { role: 'status' }, state),
        ]),
        refusal ? h(Problem, { error: refusal }) : null,
        refusal?.status === 0 ? h('p', {}, 'Start it again when the daemon answers: the job is ' +
            'not made twice.') : null,
        refused ? h('div', { class: 'problem' }, [
            h('ul', {}, errors.length ? errors.map((e) => h('li', {},
                choose(e, request, columns) || [
                    e.pointer ? h('code', {}, e.pointer) : null, ' ', e.detail,
                ])) : h('li', {}, check.error.message)),
            way === 'json' ? null
                : h('button', { type: 'button', onClick: toFirstProblem }, 'Go to the first one'),
        ]) : check?.error?.status ? h(Problem, { error: check.error }) : null,
        answer ? h('p', {}, plan(request, answer, methods)) : null,
        answer ? facts(answer, last) : null,
        answer ? h(Warnings, { warnings: answer.warnings, title: 'Good to know' }) : null,
    ]);
}
