#!/usr/bin/env python3
"""Refused bodies with Python's http.client, one request for each word of a plan; prints what the client saw.

    refusals.py BASE_URL BODY_MB PLAN...      PLAN: METHOD:PATH:FRAMING:STATUS, FRAMING plain or chunked

Prints "ok" or "not ok <why>" for each: the status has to be the expected one, the body a problem document, and the same connection has to
serve a further request or say in its headers that it will not."""
import http.client
import json
import sys
from urllib.parse import urlsplit


def chunks(megabytes):
    block = b"1.5,2.5,3.5,x\n" * 4681  # about 64 KiB
    left = megabytes << 20
    while left > 0:
        yield block[:left]
        left -= len(block)


def attempt(base, megabytes, method, path, framing, status):
    url = urlsplit(base)
    connect = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = connect(url.hostname, url.port, timeout=60)
    headers = {"Content-Type": "text/csv"}
    if framing == "plain":
        headers["Content-Length"] = str(megabytes << 20)
    connection.request(method, url.path + path, body=chunks(megabytes), headers=headers, encode_chunked=framing == "chunked")
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != status:
        return f"status {answer.status} instead of {status}: {text[:200]!r}"
    kind = answer.headers.get("Content-Type", "")
    if kind != "application/problem+json" or json.loads(text)["status"] != status:
        return f"no problem document: {kind} {text[:200]!r}"
    if answer.will_close:
        return None
    connection.request("GET", url.path + "/healthz")
    if connection.getresponse().status != 200:
        return "the connection did not serve the next request"
    return None


def main():
    base, megabytes = sys.argv[1], int(sys.argv[2])
    for plan in sys.argv[3:]:
        method, path, framing, status = plan.split(":")
        try:
            fault = attempt(base, megabytes, method, path, framing, int(status))
        except Exception as error:  # what a user would see as a traceback
            fault = f"{type(error).__name__}: {error}"
        print("ok" if fault is None else "not ok " + fault, flush=True)


main()
