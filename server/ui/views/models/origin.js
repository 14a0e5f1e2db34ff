/* Where a model comes from, in words: its data, its validation, its job. */
import { h } from '../../base/preact.js';
import { bytes, count, number, percent, plural, time } from '../../base/format.js';
import { link } from '../../base/place.js';
import { methodTitle } from './methods.js';

/* The rows that the best figures of a model come from, in two words. */
export function shortSource(model) {
    if (!model.metrics?.validation) {
        return 'training rows';
    }
    const { validation } = model;
    if (validation?.folds) {
        return validation.folds === 'leave_one_out' ? 'each row left out once'
            : `${validation.folds} folds`;
    }
    return validation?.dataset ? `data ${validation.dataset}` : 'held-out rows';
}

function holdoutText(model) {
    const { validation, rows } = model;
    const n = plural(rows?.validation, 'row');
    if (validation.column) {
        return `${n}, marked by the column “${validation.column}”, were held out of the training.`;
    }
    const which = validation.order ? `the last ones by “${validation.order}”`
        : 'drawn at random from each class';
    return `${n} (${percent(validation.holdout, 0)}, ${which}) were held out of the training.`;
}

/* How the figures of the validation were made, as a sentence. */
export function validationText(model) {
    const { validation } = model;
    if (!validation) {
        return 'No rows were held out of the training.';
    }
    if (validation.dataset) {
        return `Measured on the rows of the data “${validation.dataset}”, which the training did ` +
            'not see.';
    }
    if (validation.folds === 'leave_one_out') {
        return 'Each row was predicted by a fit to all other rows (leave one out).';
    }
    if (validation.folds) {
        const repeats = validation.repeats > 1 ? `, ${validation.repeats} times` : '';
        return `Cross-validation: the rows were divided into ${validation.folds} ` +
            `parts${repeats}, and each part was predicted by a fit to the others. ` +
            'Values are means over the parts, ± is their standard deviation.';
    }
    return holdoutText(model);
}

function value(x) {
    return typeof x === 'number' ? number(x) : typeof x === 'string' ? x : JSON.stringify(x);
}

function Parameters({ params }) {
    const entries = Object.entries(params || {});
    return entries.length === 0 ? null : h('details', { class: 'after' }, [
        h('summary', {}, `Parameters (${entries.length})`),
        h('dl', { class: 'compact' }, entries.flatMap(([name, x]) => [
            h('dt', {}, name), h('dd', {}, h('code', {}, value(x)))])),
    ]);
}

function Job({ model }) {
    return model.job
        ? h('a', { href: link(['jobs', String(model.job)]) }, `Job ${model.job}`) : '–';
}

function weighting(model) {
    const parts = [];
    if (model.weight) {
        parts.push(`column “${model.weight}”`);
    }
    if (model.class_weight) {
        parts.push(model.class_weight === 'balanced' ? 'classes balanced' : 'own class weights');
    }
    return parts.join(', ');
}

/* A list of facts: [[term, node]]; empty ones are left out. */
function facts(pairs) {
    return h('dl', {}, pairs.filter(([, node]) => node !== null && node !== undefined &&
        node !== '').flatMap(([term, node]) => [h('dt', {}, term), h('dd', {}, node)]));
}

export function Origin({ model }) {
    const { dataset, rows } = model;
    return h('section', { class: 'card', 'aria-label': 'How it was made' }, [
        h('h2', {}, 'How it was made'),
        facts([
            ['Method', methodTitle(model.algorithm)],
            ['Predicts', model.target === null ? 'which rows are unlike the others (outliers)'
                : `the column “${model.target}”`],
            ['Data', dataset ? h('span', {}, [
                h('a', { href: link(['data', dataset.name], { version: dataset.version }) },
                    `${dataset.name}, version ${dataset.version}`),
                ` (${plural(dataset.rows, 'row')})`]) : null],
            ['Rows used', rows ? `${count(rows.train)} for training` +
                (rows.validation ? `, ${count(rows.validation)} held out` : '') +
                (rows.skipped ? `, ${count(rows.skipped)} without a class left out` : '') : null],
            ['Checked by', model.target === null ? null : validationText(model)],
            ['Columns', `${count(model.inputs.length)} columns, as ${plural(model.n_features,
                'feature')} (numbers that the method computes with)`],
            ['Row weights', weighting(model)],
            ['Trained', h('span', {}, [time(model.created_at), ' by ', h(Job, { model }),
                model.submitted_by ? ` of ${model.submitted_by}` : ''])],
            ['Ended', model.converged === undefined ? null
                : `${model.converged ? 'converged' : 'not converged'} (${model.stop_reason}) ` +
                    `after ${plural(model.iterations, 'iteration')}`],
            ['Size', bytes(model.bytes)],
            ['Random seed', model.seed],
        ]),
        h(Parameters, { params: model.params }),
        h('div', { class: 'buttons after' }, [
            model.job ? h('a', { class: 'button', href: link(['jobs', String(model.job)]) },
                'See the job') : null,
            dataset ? h('a', { class: 'button', href: link(['data', dataset.name],
                { version: dataset.version }) }, 'See the data') : null,
            model.job ? h('a', { class: 'button', href: link(['train'], { job: model.job }) },
                'Train again with changes') : null,
        ]),
    ]);
}
