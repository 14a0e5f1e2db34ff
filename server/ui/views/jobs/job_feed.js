/* What is known of one job while it runs: its document by the event stream, its history and its
 * leaderboard by calls. If no event arrives (a proxy that holds them back), the job is asked for
 * again and again. In a hidden tab nothing is asked: browsers permit few connections to a host. */
import { CallError, call, events, get, path } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { connection } from '../../base/connection.js';
import { tokenChanged } from '../../base/session.js';
import { isActive, isSearch } from './job_text.js';

const SILENCE = 4000; /* ms without an event after which the job is asked for */
const PACE = 1500; /* ms between two calls of the same kind, at least */
const MOST_TRIALS = 200;

/* Runs an asynchronous function when asked, never twice at once, with pauses between. */
class Paced {
    constructor(run) {
        this.run = run;
        this.busy = false;
        this.again = false;
    }

    async ask() {
        if (this.busy) {
            this.again = true;
            return;
        }
        this.busy = true;
        do {
            this.again = false;
            const start = performance.now();
            await this.run();
            const took = performance.now() - start;
            await new Promise((done) => setTimeout(done, Math.max(PACE, 4 * took)));
        } while (this.again);
        this.busy = false;
    }
}

/* The history as CSV: without the snapshots, which may be long. Its cells are numbers. */
function parseHistory(text) {
    const [head, ...lines] = text.split('\n').filter((line) => line.trim() !== '');
    const names = (head || '').trim().split(',');
    return lines.map((line) => {
        const cells = line.trim().split(',');
        return Object.fromEntries(names.map((name, i) =>
            [name, cells[i] === '' || cells[i] === undefined ? null : Number(cells[i])]));
    });
}

export class JobFeed {
    /* onChange is called with a part of {job, history, leaderboard, before, error, at}; at: when
     * the progress of the job was new. */
    constructor(id, onChange) {
        this.where = path`/v1/jobs/${id}`;
        this.onChange = onChange;
        this.job = null;
        this.history = new Paced(() => this.loadHistory());
        this.leaderboard = new Paced(() => this.loadLeaderboard());
        this.visibility = () => (document.hidden ? this.pause() : this.resume());
    }

    open() {
        document.addEventListener('visibilitychange', this.visibility);
        this.ends = [
            tokenChanged.listen(() => this.resume()),
            connection.listen((state) => state === 'up' && this.resume()),
        ];
        this.resume();
    }

    close() {
        document.removeEventListener('visibilitychange', this.visibility);
        this.ends.forEach((end) => end());
        this.pause();
        this.onChange = () => {};
    }

    pause() {
        this.abort?.abort();
        clearTimeout(this.timer);
    }

    /* Loads everything, and follows the job if it has not ended. */
    async resume() {
        this.pause();
        const abort = new AbortController();
        this.abort = abort;
        await this.loadJob(abort.signal);
        if (abort.signal.aborted || !this.job) {
            return;
        }
        void this.loadDetails();
        if (isActive(this.job)) {
            this.heard = performance.now();
            this.watch(abort.signal);
            events(`${this.where}/events`, (event) => this.take(event), abort.signal)
                .catch((error) => this.failed(error));
        }
    }

    failed(error) {
        if (error.name === 'AbortError') {
            return;
        }
        if (error instanceof CallError && (error.status === 404 || !this.job)) {
            this.onChange({ error });
        }
    }

    async loadJob(signal) {
        try {
            this.update(await get(this.where, { signal }));
        } catch (error) {
            this.failed(error);
        }
    }

    /* Asks for the job while no event arrives. */
    watch(signal) {
        this.timer = setTimeout(async () => {
            if (performance.now() - this.heard > SILENCE) {
                await this.loadJob(signal);
                void this.loadDetails();
            }
            if (!signal.aborted && isActive(this.job)) {
                this.watch(signal);
            }
        }, SILENCE / 2);
    }

    take({ event, data }) {
        this.heard = performance.now();
        this.update(event === 'progress' ? { ...this.job, progress: data } : data);
        void this.loadDetails();
        return event === 'done';
    }

    update(job) {
        const ended = this.job && isActive(this.job) && !isActive(job);
        const isNews = JSON.stringify(this.job?.progress) !== JSON.stringify(job.progress);
        this.job = job;
        this.onChange({
            job, error: null, ended, ...(isNews ? { at: performance.now() } : {}),
        });
        if (ended) {
            changed('jobs');
            changed('models');
        }
    }

    async loadDetails() {
        if (this.job.state === 'queued') {
            await this.loadQueue();
            return;
        }
        if (isSearch(this.job)) {
            void this.leaderboard.ask();
        }
        if (!this.job.progress?.trial) {
            void this.history.ask();
        }
    }

    /* How many jobs wait before this one. */
    async loadQueue() {
        try {
            const query = { state: 'queued', fields: 'id', limit: 1000 };
            const { items } = await get('/v1/jobs', { query, signal: this.abort.signal });
            this.onChange({ before: items.filter(({ id }) => id < this.job.id).length });
        } catch {
            /* not shown */
        }
    }

    async loadHistory() {
        try {
            const { signal } = this.abort;
            const response = await call('GET', `${this.where}/history`,
                { accept: 'text/csv', signal });
            this.onChange({ history: parseHistory(await response.text()) });
        } catch {
            /* the next event asks again */
        }
    }

    async loadLeaderboard() {
        try {
            const query = { limit: MOST_TRIALS };
            const { signal } = this.abort;
            this.onChange({
                leaderboard: await get(`${this.where}/leaderboard`, { query, signal }),
            });
        } catch {
            /* the next event asks again */
        }
    }
}
