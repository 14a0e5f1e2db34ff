/* Which version of a model is live. Changes are conditional: a change by another tab, person or
 * job since the state that was shown is refused by the daemon (412) and not overwritten. */
import { call, path } from '../../base/api.js';
import { changed } from '../../base/changes.js';
import { announce } from '../../parts/status.js';

/* Makes a version live and offers to undo it. etag: of the state in which version `from` was live.
 * Throws CallError; 412: the state is another one, and views have been told to load it. */
export async function switchLive(name, from, to, etag) {
    let response;
    try {
        response = await call('PUT', path`/v1/models/${name}/live`,
            { body: { version: to }, headers: { 'If-Match': etag } });
    } catch (error) {
        if (error.status === 412 || error.status === 404) {
            changed('models');
        }
        throw error;
    }
    const next = response.headers.get('ETag');
    changed('models');
    announce(`Version ${to} of ${name} is live`, {
        label: 'Undo', scope: 'write', run: () => void undo(name, to, from, next),
    });
}

async function undo(name, from, to, etag) {
    try {
        await switchLive(name, from, to, etag);
    } catch (error) {
        announce(error.status === 412
            ? `Not undone: ${name} has been changed since. Its present state is shown.`
            : `Not undone: ${error.message}`);
    }
}
