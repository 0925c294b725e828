#!lua name=unstuck_swarm_1

-- Counts equal calls of a swarm. All that is known of one call is one string, so that it is read and
-- written whole, and expires whole:
--
--   version of the layout                          1 byte
--   epoch of the swarm, as `clear` last set it     4 bytes
--   when the generation began, in milliseconds     6 bytes
--   how long a generation is, in milliseconds      5 bytes
--   calls of this generation, of the one before    4 bytes each
--   distinct workers of both                       4 bytes
--   how many workers of this generation follow     1 byte
--   workers of this generation, then of the one before: 4 bytes of a keyed hash each, in their order
--
-- Of each generation the 65 workers with the smallest hashes are kept. Up to 64 the count is exact;
-- beyond, the largest hash kept says how densely the workers lie, and so how many there are, with a
-- standard error of one part in eight (Bar-Yossef et al., 2002: k minimum values).

local VERSION = 1
local FIELDS = '>Bc4I6I5I4I4I4B'
local HEADER = 29
local KEPT = 65
local CALLS_MAX = 4294967295
local NO_EPOCH = '\0\0\0\0'
-- A year and a day: longer than any call counts, so that none outlives the epoch that ended it.
local EPOCH_MS = 367 * 24 * 3600000
local HOT_MAX = 256


local function number(set, index)
  return (struct.unpack('>I4', set, index * 4 - 3))
end

-- A match that begins within a worker is none.
local function has(set, worker)
  local at = string.find(set, worker, 1, true)
  while at and at % 4 ~= 1 do
    at = string.find(set, worker, at + 1, true)
  end
  return at ~= nil
end

-- The set with the worker in it; the same set if it is there, or is not one that is kept.
local function with(set, worker)
  local size, own = #set / 4, number(worker, 1)
  if size == KEPT and own > number(set, KEPT) or has(set, worker) then
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

-- How many distinct workers two sets have.
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

-- The state that a string holds. None if the string is not of this swarm's epoch, or none of ours at all.
local function state(value, epoch)
  if not value or #value < HEADER or (#value - HEADER) % 4 ~= 0 then
    return nil
  end
  local version, of, start, half, calls, earlier, workers, kept = struct.unpack(FIELDS, value)
  local others = (#value - HEADER) / 4 - kept
  if version ~= VERSION or of ~= epoch or kept > KEPT or others < 0 or others > KEPT then
    return nil
  end
  if calls < kept or earlier < others then
    return nil
  end
  local border = HEADER + kept * 4
  return {
    start = start, half = half, calls = calls, earlier = earlier, workers = workers,
    now = string.sub(value, HEADER + 1, border), before = string.sub(value, border + 1),
  }
end

-- The state as it is at a time. A clock that was set back, and a generation of another length, begin anew.
local function at(known, start, half)
  if known and known.half == half then
    if known.start == start then
      return known
    end
    if known.start + half == start then
      known.start, known.earlier, known.before = start, known.calls, known.now
      known.calls, known.now = 0, ''
      known.workers = distinct('', known.before)
      return known
    end
  end
  return { start = start, half = half, calls = 0, earlier = 0, workers = 0, now = '', before = '' }
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function epoch_of(value)
  return value and #value == 4 and value or NO_EPOCH
end

-- Puts a call among those that are shown: the latest of them, and no more than there is room for.
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

-- Counts a call. Keys: its own, the epoch's, that of the hot ones. Arguments: the worker, the length of a
-- generation, from how many calls (a multiple of which) and workers on it is hot, and as what.
-- Gives the calls that count and the workers that made them.
local function record(keys, args)
  local held = redis.call('MGET', keys[1], keys[2])
  local now, half = clock(), tonumber(args[2])
  local epoch = epoch_of(held[2])
  local known = at(state(held[1], epoch), now - now % half, half)
  local set = with(known.now, args[1])
  if set ~= known.now then
    known.now = set
    known.workers = distinct(set, known.before)
  end
  known.calls = math.min(known.calls + 1, CALLS_MAX)
  local value = struct.pack(FIELDS, VERSION, epoch, known.start, half, known.calls, known.earlier,
    known.workers, #set / 4) .. set .. known.before
  redis.call('SET', keys[1], value, 'PX', 2 * half)
  local calls = known.calls + known.earlier
  if calls % args[3] == 0 and known.workers >= tonumber(args[4]) then
    heat(keys[3], args[5], now, 2 * half)
  end
  return { calls, math.min(known.workers, calls) }
end

-- Tells of calls and counts nothing. Keys: the epoch's, then those of the calls. Gives for each the calls that
-- count, the workers that made them, and how many milliseconds ago the latest was; nothing if none counts.
local function look(keys)
  local epoch, now, seen = epoch_of(redis.call('MGET', keys[1])[1]), clock(), {}
  for index = 2, #keys do
    local known = state(redis.call('MGET', keys[index])[1], epoch)
    seen[index - 1] = false
    if known and known.half > 0 then
      local lives = redis.call('PTTL', keys[index])
      local half = known.half
      known = at(known, now - now % half, half)
      local calls = known.calls + known.earlier
      if calls > 0 then
        seen[index - 1] = { calls, math.min(known.workers, calls), math.max(2 * half - lives, 0) }
      end
    end
  end
  return seen
end

-- Forgets the swarm. Keys: the epoch's, that of the hot ones.
local function clear(keys)
  local old = epoch_of(redis.call('MGET', keys[1])[1])
  local epoch = struct.pack('>I4', clock() % 4294967296)
  if epoch == old or epoch == NO_EPOCH then
    epoch = struct.pack('>I4', (clock() + 1) % 4294967296)
  end
  redis.call('SET', keys[1], epoch, 'PX', EPOCH_MS)
  redis.call('DEL', keys[2])
  return redis.status_reply('OK')
end

redis.register_function('unstuck_record_1', record)
redis.register_function{ function_name = 'unstuck_look_1', callback = look, flags = { 'no-writes' } }
redis.register_function{ function_name = 'unstuck_clear_1', callback = clear, flags = { 'allow-oom' } }
