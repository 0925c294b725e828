#!lua name=unstuck_swarm_1

-- Counts equal calls of a swarm. The state of a call is one string, so that it is read, written and
-- expired as a whole:
--
--   version of the layout                          1 byte
--   epoch of the swarm, as `clear` last set it     4 bytes
--   start of the generation, in milliseconds       6 bytes
--   length of a generation, in milliseconds        5 bytes
--   calls of this generation, of the one before    4 bytes each
--   distinct workers of both                       4 bytes
--   number of this generation's workers below      1 byte
--   workers of this generation, then of the one before: 4 bytes of a keyed hash each, in their order
--
-- The 65 workers with the smallest hashes of each generation are kept. Up to 64 the count is exact.
-- Beyond that it is estimated from the largest kept hash, with a standard error of one part in eight
-- (Bar-Yossef et al., 2002: k minimum values).

local VERSION = 1
local FIELDS = '>Bc4I6I5I4I4I4B'
local HEADER = 29
local KEPT = 65
local CALLS_MAX = 4294967295
local NO_EPOCH = '\0\0\0\0'
-- A year and a day: longer than any call counts, so that no call outlives the epoch that ended it.
local EPOCH_MS = 367 * 24 * 3600000
local HOT_MAX = 256
local FEW = 16


local function number(set, index)
  return (struct.unpack('>I4', set, index * 4 - 3))
end

-- Returns whether a set has a worker. A match that begins within a worker is skipped.
local function has(set, worker)
  local at = string.find(set, worker, 1, true)
  while at and at % 4 ~= 1 do
    at = string.find(set, worker, at + 1, true)
  end
  return at ~= nil
end

-- Returns the set with the worker. The set is unchanged if it has the worker, or if the hash is too large.
local function with(set, worker)
  if has(set, worker) then
    return set
  end
  local size, own = #set / 4, number(worker, 1)
  if size == KEPT and own > number(set, KEPT) then
    return set
  end
  local low, high = 0, size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number(set, middle + 1) < own then
      low = middle + 1
    else
      high = middle
    end
  end
  return string.sub(string.sub(set, 1, low * 4) .. worker .. string.sub(set, low * 4 + 1), 1, KEPT * 4)
end

-- Returns the number of distinct workers in two sets.
local function distinct(a, b)
  local i, j, count, last = 1, 1, 0, 0
  local sizes = { #a / 4, #b / 4 }
  while count < KEPT and (i <= sizes[1] or j <= sizes[2]) do
    local x = i <= sizes[1] and number(a, i) or math.huge
    local y = j <= sizes[2] and number(b, j) or math.huge
    last = math.min(x, y)
    i = x == last and i + 1 or i
    j = y == last and j + 1 or j
    count = count + 1
  end
  if count < KEPT then
    return count
  end
  return math.floor((KEPT - 1) * 4294967296 / (last + 1))
end

-- Parses a string: the start and the length of its generation, the calls of it and of the previous one, the
-- workers of both, and the number of its own. Returns nothing if the string has another epoch or layout.
local function fields(value, epoch)
  if not value or #value < HEADER then
    return nil
  end
  local version, of, began, half, calls, earlier, workers, kept = struct.unpack(FIELDS, value)
  local others = (#value - HEADER) / 4 - kept
  if version ~= VERSION or of ~= epoch or kept > KEPT or others < 0 or others > KEPT or others % 1 ~= 0
    or calls < kept or earlier < others then
    return nil
  end
  return began, half, calls, earlier, workers, kept
end

-- Returns the calls of the current and of the previous generation, the workers of both, and those of each, for
-- a generation that begins at a given time. If the clock was set back or the length differs, it starts over.
local function at(start, half, value, began, length, calls, earlier, workers, kept)
  if length == half then
    local border = HEADER + kept * 4
    local now = string.sub(value, HEADER + 1, border)
    if began == start then
      return calls, earlier, workers, now, string.sub(value, border + 1)
    end
    if began + half == start then
      return 0, calls, distinct('', now), '', now
    end
  end
  return 0, 0, 0, '', ''
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function epoch_of(value)
  return value and #value == 4 and value or NO_EPOCH
end

-- Adds a call to the hot calls. Only the latest are kept, within the limit.
local function heat(hot, member, now, lives)
  local added = redis.pcall('ZADD', hot, now, member)
  if type(added) == 'table' and added.err then
    redis.call('DEL', hot)
    added = redis.call('ZADD', hot, now, member)
  end
  if added == 1 then
    redis.call('ZREMRANGEBYRANK', hot, 0, -HOT_MAX - 1)
  end
  redis.call('PEXPIRE', hot, lives)
end

-- Counts a call. Keys: the call's, the epoch's, the hot calls'. Arguments: the worker, the length of a
-- generation, the calls and the workers from which on it is hot, its label, and the client's number.
-- Returns the calls that count, the workers that made them, and the client's number.
--
-- A hot call is shown at the threshold, and then at twice, four times, eight times as many calls. A continuing
-- loop meets one of these about once in a generation, and costs nothing else. It is also shown when another
-- worker makes it, while the workers are few, because one worker may have made all calls until then.
local function record(keys, args)
  local held = redis.call('MGET', keys[1], keys[2])
  local now, half = clock(), tonumber(args[2])
  local epoch = epoch_of(held[2])
  local start = now - now % half
  local calls, earlier, workers, own, before = at(start, half, held[1], fields(held[1], epoch))
  local set = with(own, args[1])
  if set ~= own then
    workers = distinct(set, before)
  end
  calls = math.min(calls + 1, CALLS_MAX)
  redis.call('SET', keys[1], struct.pack(FIELDS, VERSION, epoch, start, half, calls, earlier, workers,
    #set / 4) .. set .. before, 'PX', 2 * half)
  local all = calls + earlier
  if all >= tonumber(args[3]) and workers >= tonumber(args[4])
    and (math.frexp(all / args[3]) == 0.5 or set ~= own and workers <= FEW) then
    heat(keys[3], args[5], now, 4 * half)
  end
  return { all, math.min(workers, all), tonumber(args[6]) }
end

-- Reads the counts of calls without counting. Keys: the epoch's, then the calls'. Returns for each call the calls
-- that count, the workers that made them, and the age of the latest in milliseconds, or nothing if none counts.
local function look(keys)
  local epoch, now, seen = epoch_of(redis.call('MGET', keys[1])[1]), clock(), {}
  for index = 2, #keys do
    local value = redis.call('MGET', keys[index])[1]
    local began, half, calls, earlier, workers, kept = fields(value, epoch)
    seen[index - 1] = false
    if began and half > 0 then
      local start = now - now % half
      calls, earlier, workers = at(start, half, value, began, half, calls, earlier, workers, kept)
      if calls + earlier > 0 then
        local ago = math.max(2 * half - redis.call('PTTL', keys[index]), 0)
        seen[index - 1] = { calls + earlier, math.min(workers, calls + earlier), ago }
      end
    end
  end
  return seen
end

-- Clears the swarm. Keys: the epoch's, the hot calls'.
local function clear(keys)
  local old = epoch_of(redis.call('MGET', keys[1])[1])
  -- Each epoch is one more than the previous one, so that none repeats. The first is taken from the clock, so
  -- that an epoch that was lost with its key does not repeat either.
  local epoch = old == NO_EPOCH and clock() or number(old, 1) + 1
  epoch = math.max(epoch % 4294967296, 1)
  redis.call('SET', keys[1], struct.pack('>I4', epoch), 'PX', EPOCH_MS)
  redis.call('DEL', keys[2])
  return redis.status_reply('OK')
end

redis.register_function('unstuck_record_1', record)
redis.register_function{ function_name = 'unstuck_look_1', callback = look, flags = { 'no-writes' } }
redis.register_function{ function_name = 'unstuck_clear_1', callback = clear, flags = { 'allow-oom' } }
