"""Lua scripts: what Redis does in one step. Each is over any number of keys, independent of each other.

Every key that a script touches is declared, and each key has one argument, so that a call may be split into calls of
one key each: Redis Cluster refuses calls of several keys while their slot is moved to another server. What a script
returns is a list of columns, each a string or a list with a part for each key.

Buckets are stored in hashes, many in one, so that Redis needs no key for each. Such a *shard* is named by a slice of
time, as long as the horizon, and the first two bytes of the block key; the other six name the field. So a window has
2**16 shards in a slice: with some hundred thousand posts, each has so few buckets that Redis stores it as one block of
memory. Redis does so only while no value has more than 64 bytes. A bucket that would be larger continues in a string of
its own, its *overflow*, and its field ends with a plus sign. An overflow of more than the newest settled entries, and
all that are not settled, is cut. A shard expires as a whole.
"""

from __future__ import annotations

LOST, DAMAGED = "HYBRIDDUP-LOST", "HYBRIDDUP-DAMAGED"
"""Errors of scripts: the store is not the one that was opened; a bucket cannot be read."""
ENTER = """
local size, ttl = tonumber(ARGV[1]), ARGV[2]
local room = math.max(math.floor(63 / size), 1) * size
local flags, found = {}, {}
for i, key in ipairs(KEYS) do
  local argument = ARGV[i + 2]
  local field, added = string.sub(argument, 1, 6), string.sub(argument, 7)
  local held = redis.call('HGET', key, field) or ''
  local rest = #held % size
  if rest > 1 or (rest == 1 and string.sub(held, -1) ~= '+') then return redis.error_reply('HYBRIDDUP-DAMAGED') end
  local changed
  if rest == 0 and #held + #added <= room then changed = held .. added
  elseif rest == 0 then changed = held .. '+' end
  if changed then
    redis.call('HSET', key, field, changed)
    if held == '' and redis.call('HLEN', key) == 1 then redis.call('PEXPIRE', key, ttl) end
  end
  local overflows = rest == 1 or #held + #added > room
  flags[i] = string.char((#held - rest) / size + (overflows and 128 or 0))
  found[i] = string.sub(held, 1, #held - rest)
end
return {table.concat(flags), table.concat(found)}
"""
"""Adds entries to buckets in shards, in which there is room; returns what they held before.

Arguments: bytes of an entry, milliseconds until a new shard expires; of each key: a field, and entries. Columns: a byte
for each bucket, the number of its entries and 128 if it overflows, which has not got the new entries then; the entries.
"""
READ = """
local size = tonumber(ARGV[1])
local flags, found = {}, {}
for i, key in ipairs(KEYS) do
  local held = redis.call('HGET', key, ARGV[i + 1]) or ''
  local rest = #held % size
  if rest > 1 or (rest == 1 and string.sub(held, -1) ~= '+') then return redis.error_reply('HYBRIDDUP-DAMAGED') end
  flags[i] = string.char((#held - rest) / size + 128 * rest)
  found[i] = string.sub(held, 1, #held - rest)
end
return {table.concat(flags), table.concat(found)}
"""
"""Reads buckets in shards: as `ENTER`, without entries."""
OVERFLOW = """
local size, ttl, most = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local settled = tonumber(ARGV[4])
local function cut(held)
  local old, new = {}, {}
  for at = 1, #held, size do
    local entry = string.sub(held, at, at + size - 1)
    local into = struct.unpack('<I8', entry) < settled and old or new
    into[#into + 1] = entry
  end
  local first = math.max(#old - most / size, 0) + 1
  return table.concat(old, '', first) .. table.concat(new)
end
local found = {}
for i, key in ipairs(KEYS) do
  local length = redis.call('APPEND', key, ARGV[i + 4])
  if length == #ARGV[i + 4] then redis.call('PEXPIRE', key, ttl) end
  local held = redis.call('GET', key)
  if #held % size ~= 0 then return redis.error_reply('HYBRIDDUP-DAMAGED') end
  if most > 0 and length > 1.25 * most then
    local left = cut(held)
    if #left < #held then redis.call('SET', key, left, 'KEEPTTL') end
    held = left
  end
  found[i] = held
end
return {found}
"""
"""Adds entries to overflows, and cuts those that are too long; returns what they hold then.

Arguments: bytes of an entry, milliseconds until a new overflow expires, bytes of settled entries that stay (0 = all),
the position before which posts are settled; of each key: entries.
"""
LEAVE = """
local size = tonumber(ARGV[1])
local flags = {}
for i, key in ipairs(KEYS) do
  local argument = ARGV[i + 1]
  local field, leaving, n = string.sub(argument, 1, 6), {}, (#argument - 6) / 8
  for at = 7, #argument, 8 do leaving[string.sub(argument, at, at + 7)] = true end
  local held = redis.call('HGET', key, field) or ''
  local rest, left = #held % size, {}
  if rest > 1 or (rest == 1 and string.sub(held, -1) ~= '+') then return redis.error_reply('HYBRIDDUP-DAMAGED') end
  for at = 1, #held - rest, size do
    local entry = string.sub(held, at, at + size - 1)
    if leaving[string.sub(entry, 1, 8)] then n = n - 1 else left[#left + 1] = entry end
  end
  local changed = table.concat(left) .. (rest == 1 and '+' or '')
  if changed == '' then redis.call('HDEL', key, field)
  elseif changed ~= held then redis.call('HSET', key, field, changed) end
  flags[i] = (rest == 1 and n > 0) and '+' or '-'
end
return {table.concat(flags)}
"""
"""Removes posts from buckets in shards. Returns a plus sign for each bucket whose overflow may have some of them.

Arguments: bytes of an entry; of each key: a field, and positions.
"""
LEAVE_OVERFLOW = """
local size = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local leaving = {}
  for at = 1, #ARGV[i + 1], 8 do leaving[string.sub(ARGV[i + 1], at, at + 7)] = true end
  local held, left = redis.call('GET', key) or '', {}
  if #held % size ~= 0 then return redis.error_reply('HYBRIDDUP-DAMAGED') end
  for at = 1, #held, size do
    if not leaving[string.sub(held, at, at + 7)] then left[#left + 1] = string.sub(held, at, at + size - 1) end
  end
  local changed = table.concat(left)
  if changed == '' then redis.call('DEL', key)
  elseif #changed < #held then redis.call('SET', key, changed, 'KEEPTTL') end
end
return {}
"""
"""Removes posts from overflows. Arguments: bytes of an entry; of each key: positions."""
CHANGE = """
local states = {}
for i, key in ipairs(KEYS) do
  local to, expected, evidence = string.match(ARGV[i], '^(%d)(%d+),(.*)$')
  local state = redis.call('GETRANGE', key, 0, 0)
  if state ~= '' and string.find(expected, state, 1, true) then
    if evidence == '' then
      redis.call('SETRANGE', key, 0, to)
    else
      local held = redis.call('GET', key)
      local n = struct.unpack('<I4', string.sub(held, 2, 5))
      local changed = to .. struct.pack('<I4', #evidence) .. evidence .. string.sub(held, 6 + n)
      redis.call('SET', key, changed, 'KEEPTTL')
    end
    state = to
  end
  states[i] = state == '' and '0' or state
end
return {table.concat(states)}
"""
"""Changes states that are as expected. Returns a digit for each state afterwards, 0 without a record.

Argument of each key: the digit of the new state, those of the expected ones, a comma, and evidence.
"""
HOLD = """
local held = {}
for i, key in ipairs(KEYS) do
  local position, instead = string.match(ARGV[i + 1], '^(%d+) (%d*)$')
  local holder = redis.call('GET', key) or ''
  if holder == instead or holder == '' then
    redis.call('SET', key, position, 'PX', ARGV[1])
    holder = position
  end
  held[i] = holder
end
return {held}
"""
"""Claims names; returns their holders. Arguments: milliseconds until a holder expires; of each key: the position, a
space, and that of the holder that may be replaced."""
WRITE = """
for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end
return {}
"""
"""Writes records. Arguments: milliseconds until they expire; of each key: a record."""

SAME_STORE = """
local key, call = KEYS[1], redis.call
if call('HGET', key, 'token') ~= ARGV[1] then return redis.error_reply('HYBRIDDUP-LOST') end
"""
TAKE = (
    SAME_STORE
    + """
local n = tonumber(ARGV[2])
local first = call('HINCRBY', key, 'n', n) - n
local time = call('TIME')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(call('HGET', key, 'c') or 0))
local clock, unfinished = string.format('%.0f', now), call('HGET', key, 'o') or ''
if n > 0 then unfinished = unfinished .. string.format(' %.0f:%d', first, n) end
call('HSET', key, 'c', clock, 'o', unfinished)
return {first, call('HGET', key, 'w') or '', clock, unfinished}
"""
)
"""Takes positions, as a block that is not finished. Arguments: the token of the store, how many.

Returns the first, the watermark, the clock in milliseconds, which never goes back, and the unfinished blocks.
"""
FINISH = (
    SAME_STORE
    + """
local unfinished = call('HGET', key, 'o') or ''
local from, to = string.find(unfinished, ' ' .. ARGV[2] .. ':%d+')
if from then
  call('HSET', key, 'o', string.sub(unfinished, 1, from - 1) .. string.sub(unfinished, to + 1))
  for i = 6, #ARGV, 2 do call('HINCRBY', key, 'k' .. ARGV[i], ARGV[i + 1]) end
end
local held = call('HGET', key, 'w')
local read, watermark = tonumber(ARGV[3]), tonumber(ARGV[4])
if not held or (tonumber(held) >= read and tonumber(held) < watermark) then call('HSET', key, 'w', ARGV[4]) end
if call('HLEN', key) > 512 then
  for _, field in ipairs(call('HKEYS', key)) do
    local slice = string.match(field, '^k(%-?%d+)$')
    if slice and tonumber(slice) < tonumber(ARGV[5]) then call('HDEL', key, field) end
  end
end
return {}
"""
)
"""Finishes a block. Arguments: the token of the store, the first position of the block, the watermark that was read,
the new one, the oldest slice of counts that stays, and pairs of a slice and its number of kept posts, which count only
if the block was not finished."""
