/* The view "Jobs": all jobs, or one. */
import { h } from '../../base/preact.js';
import { JobList } from './job_list.js';
import { JobPage } from './job_page.js';

export function JobsView({ path, query }) {
    return path.length > 0 ? h(JobPage, { key: path[0], id: path[0], query })
        : h(JobList, { query });
}
