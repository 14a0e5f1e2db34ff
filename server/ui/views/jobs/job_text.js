/* Jobs, phases and candidates as text. */
import { serverTime } from '../../base/api.js';
import { count, number, seconds } from '../../base/format.js';

/* Whether the job has not ended. */
export function isActive(job) {
    return job.state === 'queued' || job.state === 'running';
}

/* Whether the job searches for the best method. */
export function isSearch(job) {
    return job.algorithm === 'search' || Boolean(job.result?.search) ||
        Boolean((job.resolved || job.request)?.search);
}

/* Returns what the job trains: the title of its method, "Search", "Search → Logistic regression".
 * titles: of methodTitles(). */
export function methodText(job, titles) {
    if (job.algorithm === 'search') {
        return 'Search';
    }
    const title = titles[job.algorithm] || job.algorithm;
    return isSearch(job) ? `Search → ${title}` : title;
}

/* Returns the seconds that a job has run: from its start to its end or now, by the clock of the
 * server; undefined: it has not started. */
export function runSeconds(job) {
    if (!job.started_at) {
        return undefined;
    }
    const end = job.finished_at ? Date.parse(job.finished_at) : serverTime();
    return Math.max((end - Date.parse(job.started_at)) / 1000, 0);
}

/* The metric by which a job is looked at first: {name, metrics, of}, or null. of: 'validation' or
 * 'training' rows. */
export function mainMetric(job) {
    const all = job.result?.metrics;
    const metrics = all?.validation || all?.train;
    if (!metrics) {
        return null;
    }
    const name = job.result.search?.metric || job.result.promotion?.metric || 'accuracy';
    return { name, metrics, of: all.validation ? 'validation' : 'training' };
}

function valueText(value) {
    if (Array.isArray(value)) {
        return value.map(valueText).join(', ');
    }
    if (value !== null && typeof value === 'object') {
        const { type, ...rest } = value;
        const members = membersText(rest);
        return type === undefined ? members : members ? `${type} (${members})` : type;
    }
    if (typeof value === 'boolean') {
        return value ? 'yes' : 'no';
    }
    return typeof value === 'number' ? number(value, 3).replace(/\.?0+e/, 'e') : String(value);
}

function membersText(object) {
    return Object.entries(object || {}).map(([name, value]) =>
        `${name.replace(/_/g, ' ')} ${valueText(value)}`).join(', ');
}

/* Returns a candidate of a search as text: {title, settings}. */
export function candidateText(trial, titles) {
    if (trial.members) {
        return {
            title: 'Combination',
            settings: trial.members.map((member) => `${titles[member.algorithm] ||
                member.algorithm}${member.share === undefined ? ''
                : `, share ${number(member.share, 2)}`}`).join('; '),
        };
    }
    const settings = [membersText(trial.params), membersText(trial.features)];
    return {
        title: titles[trial.algorithm] || trial.algorithm,
        settings: settings.filter(Boolean).join('; ') || 'usual settings',
    };
}

/* Always four digits, so that numbers stand below each other. */
function fourDigits(x) {
    const size = Math.abs(x);
    return size >= 1e-3 && size < 1e4 ? x.toPrecision(4).replace('-', '−') : number(x);
}

/* Returns a mean and its standard error as text. */
export function meanText({ mean, standard_error: error }) {
    if (mean === null || mean === undefined) {
        return '–';
    }
    return error === null || error === undefined ? fourDigits(mean)
        : `${fourDigits(mean)} ± ${number(error, 2)}`;
}

function foldsOf(job) {
    const { folds, repeats = 1 } = (job.resolved || job.request)?.validation || {};
    return typeof folds === 'number' ? folds * repeats : undefined;
}

/* Returns what a job is doing. */
export function phaseText(job) {
    const progress = job.progress;
    if (job.state === 'queued') {
        return job.attempts > 0 ? 'Waiting to start again' : 'Waiting to start';
    }
    if (!progress) {
        return 'Reading the table';
    }
    if (progress.trial) {
        const of = progress.max_iterations ? ` of ${count(progress.max_iterations)}` : '';
        return `Trying candidates: ${count(progress.iteration)}${of} tried`;
    }
    if (progress.fold) {
        const folds = foldsOf(job);
        return `Checking on held-out rows: fold ${progress.fold}${folds ? ` of ${folds}` : ''}`;
    }
    if (progress.fraction >= 1) {
        return 'Measuring and storing the model';
    }
    if (!progress.iteration) {
        return job.algorithm === 'search' ? 'Preparing the candidates' : 'Preparing the rows';
    }
    return `Training: iteration ${count(progress.iteration)}` +
        (progress.max_iterations ? ` of at most ${count(progress.max_iterations)}` : '');
}

/* Returns the seconds that a job will take at most, judged by what it has done, or undefined.
 * elapsed: seconds since its start. */
export function remaining(job, elapsed) {
    const fraction = job.progress?.fraction;
    if (!fraction || fraction < 0.01 || fraction >= 1 || elapsed < 1) {
        return undefined;
    }
    const rest = elapsed / fraction - elapsed;
    const limit = job.progress.trial ? (job.resolved || job.request)?.search?.seconds : undefined;
    return typeof limit === 'number' ? Math.max(Math.min(rest, limit - elapsed), 0) : rest;
}

/* Returns a time span in whole seconds, so that it does not flicker. */
export function span(value) {
    return value === undefined ? '–' : value < 1 ? '0 s' : seconds(Math.round(value));
}
