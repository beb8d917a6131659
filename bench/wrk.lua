-- The requests of wrk: a file with one request a line (path, headers and body as JSON would need a parser here, so the lines of
-- the file are Lua tables). The requests are sent in turn. At the end the script prints one line of JSON.
local requests = {}

function init(args)
  local turn = 0
  for _, each in ipairs(dofile(args[1])) do
    requests[#requests + 1] = wrk.format(each.method, each.path, each.headers, each.body)
  end
  request = function()
    turn = turn % #requests + 1
    return requests[turn]
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
