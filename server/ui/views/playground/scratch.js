/* Training in a scratch name: the points are stored as a dataset and each panel trains a model of
 * its own. Datasets, models and jobs expire. */
import { CallError, get, path, post, put } from '../../base/api.js';
import { CLASSES, toCsv } from './shapes.js';

const KEY = 'discern.playground';
const LIFE = 3600; /* s after which dataset, model and job are deleted */
const RENEW = 600000; /* ms after which the points are stored again, which renews their life */
const DELAY = 150; /* ms without a change before the training begins */
const SECONDS = 20; /* limit of a training */

function randomName() {
    const bytes = crypto.getRandomValues(new Uint8Array(6));
    return `playground-${[...bytes].map((b) => b.toString(16).padStart(2, '0')).join('')}`;
}

/* The name of this tab. A reload keeps it; a copy of the tab, which has a copy of the session
 * storage, does not. */
function tabName() {
    try {
        const [navigation] = performance.getEntriesByType('navigation');
        const old = sessionStorage.getItem(KEY);
        const name = old && navigation?.type === 'reload' ? old : randomName();
        sessionStorage.setItem(KEY, name);
        return name;
    } catch {
        return randomName(); /* the browser forbids storage */
    }
}

export const SCRATCH = tabName();

let stored = { points: null, at: 0, reference: null };

/* Stores the points and resolves to "name@version"; panels with the same list share one upload. */
function store(points) {
    if (stored.points !== points || performance.now() - stored.at > RENEW) {
        const entry = { points, at: performance.now() };
        entry.reference = put(path`/v1/datasets/${SCRATCH}`, toCsv(points), {
            type: 'text/csv',
            query: { types: 'x:numeric,y:numeric,class:categorical', expires_in: LIFE },
        }).then((dataset) => `${SCRATCH}@${dataset.version}`);
        entry.reference.catch(() => forget(entry));
        stored = entry;
    }
    return stored.reference;
}

function forget(entry) {
    if (stored === entry) {
        stored = { points: null, at: 0, reference: null };
    }
}

/* The body of a job. request: {algorithm, params, features, …}. */
export function jobOf(request, model, dataset) {
    const { features, ...rest } = request;
    const needsTarget = request.algorithm !== 'one_class_svm';
    return {
        model, dataset, ...(needsTarget ? { target: 'class' } : {}), ...rest,
        features: { include: ['x', 'y'], ...features },
        limits: { seconds: SECONDS }, expires_in: LIFE,
    };
}

/* Why these points cannot be trained on; '' if they can. */
export function lack(points, request) {
    if (points.length === 0) {
        return 'There are no points yet.';
    }
    const classes = new Set(points.map((p) => p.c));
    if (request.algorithm !== 'one_class_svm' && classes.size < 2) {
        return `All points are of class ${CLASSES[points[0].c]}: set some of another class.`;
    }
    return '';
}

const ended = (job) => !['queued', 'running'].includes(job.state);

/* Trains what was asked for last. Only one job of a trainer runs at a time: a newer task cancels
 * it and waits for its end. */
export class Trainer {
    /* suffix: of the model's name; report(change) gets members of {busy, job, trained, error}. */
    constructor(suffix, report) {
        this.model = `${SCRATCH}-${suffix}`;
        this.report = report;
    }

    /* task: {points, request, outputs}; outputs(version, job, signal) is a Promise of what is
     * drawn; null: nothing is trained any more. */
    want(task) {
        this.task = task;
        this.abort?.abort();
        if (task && !this.running) {
            this.running = true;
            void this.run();
        }
    }

    stop() {
        this.task = null;
        this.report = () => {};
        this.abort?.abort();
    }

    async run() {
        while (this.task) {
            const { task } = this;
            await new Promise((done) => setTimeout(done, DELAY));
            if (this.task === task) {
                await this.take(task);
            }
        }
        this.running = false;
    }

    async take(task) {
        this.abort = new AbortController();
        const { signal } = this.abort;
        this.report({ busy: true });
        let change;
        try {
            const trained = await this.train(task, signal);
            change = { trained, error: null };
        } catch (error) {
            change = { error };
        }
        if (this.task === task) {
            this.task = null;
            this.report({ ...change, busy: false });
        }
    }

    async submit(task) {
        const job = async () => post('/v1/jobs',
            jobOf(task.request, this.model, await store(task.points)));
        try {
            return await job();
        } catch (error) {
            const gone = (error.document?.errors || []).some((e) => e.pointer === '/dataset');
            if (!gone) {
                throw error;
            }
            forget(stored); /* somebody has deleted it */
            return job();
        }
    }

    async train(task, signal) {
        let job = await this.submit(task);
        try {
            while (!ended(job)) {
                signal.throwIfAborted();
                this.report({ job });
                job = await get(path`/v1/jobs/${job.id}`, { query: { wait: 20 }, signal });
            }
        } catch (error) {
            await this.cancel(job.id);
            throw error;
        }
        if (job.state !== 'succeeded') {
            throw new CallError(422, job.error || { detail: `the job was ${job.state}` },
                'POST /v1/jobs');
        }
        signal.throwIfAborted();
        const outputs = await task.outputs(
            path`/v1/models/${this.model}/versions/${job.result.version}`, job, signal);
        return { job, points: task.points, ...outputs };
    }

    /* Cancels a job and waits until it has ended. Most jobs end within a second; to cancel one that
     * has ended would be refused. */
    async cancel(id) {
        try {
            if (!ended(await get(path`/v1/jobs/${id}`, { query: { wait: 1 } }))) {
                await post(path`/v1/jobs/${id}/cancel`);
                await get(path`/v1/jobs/${id}`, { query: { wait: 5 } });
            }
        } catch {
            /* it has ended, or there is no connection */
        }
    }
}
