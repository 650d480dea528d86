"""What Redis does by itself in one step: Lua, each call over keys of one partition only.

Buckets lie in hashes, many in one, so that Redis stores them without a key each: such a *shard* is named by a slice of
time, as long as the horizon, and the first two bytes of the block key; the others name the field. So all partitions
together have 2**16 shards of a slice: for some hundred thousand posts, each has so few buckets that Redis stores it as
one block of memory, and so many that this is worthwhile. Redis stores a hash as
one block of memory where no value has more than 64 bytes, so a larger bucket lies by itself, and its field is empty. A
shard expires as a whole. Two slices are looked into, that of this moment and the one before. The server's clock tells
which these are, so that whoever reads later sees what was written before.
"""

from __future__ import annotations

SHARD = """
local prefix, length, size, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local slice = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / length)
local now, before = prefix .. 'b' .. slice .. ':', prefix .. 'b' .. (slice - 1) .. ':'
local call, sub, from = redis.call, string.sub, most > 0 and -most or 0
local function bucket(begin, shard, field)
  local held = call('HGET', begin .. shard, field)
  if held == '' then return call('GETRANGE', begin .. shard .. field, from, -1) end
  return held
end
"""
ADD = (
    SHARD
    + """
local function add(short, field, entry)
  local shard = now .. short
  local held = call('HGET', shard, field)
  if not held then
    call('HSET', shard, field, entry)
    if call('HLEN', shard) == 1 then call('PEXPIRE', shard, 2 * length) end
  elseif held ~= '' and #held + size <= 64 then
    call('HSET', shard, field, held .. entry)
  elseif held ~= '' then
    call('HSET', shard, field, '')
    call('SET', shard .. field, held .. entry, 'PX', 2 * length)
  else
    local own = shard .. field
    held = call('GETRANGE', own, from, -1)
    if call('APPEND', own, entry) > 2 * most and most > 0 then call('SET', own, held .. entry, 'PX', 2 * length) end
  end
  return held
end
local counts, found, n = {}, {}, 0
local function note(held, old)
  local bytes = 0
  if old then
    n, bytes = n + 1, #old
    found[n] = old
  end
  if held then
    n, bytes = n + 1, bytes + #held
    found[n] = held
  end
  counts[#counts + 1] = bytes / size
end
"""
)
ENTER = (
    ADD
    + """
local adds, reads = ARGV[4], ARGV[5]
for at = 1, #adds, 8 + size do
  add(sub(adds, at, at + 1), sub(adds, at + 2, at + 7), sub(adds, at + 8, at + 7 + size))
end
for at = 1, #reads, 8 do
  local short, field = sub(reads, at, at + 1), sub(reads, at + 2, at + 7)
  note(bucket(now, short, field), bucket(before, short, field))
end
return {counts, table.concat(found)}
"""
)
ENTER_BY_SAME = (
    ADD
    + """
local adds = ARGV[4]
for at = 1, #adds, 8 + size do
  local short, field = sub(adds, at, at + 1), sub(adds, at + 2, at + 7)
  note(add(short, field, sub(adds, at + 8, at + 7 + size)), bucket(before, short, field))
end
return {counts, table.concat(found)}
"""
)
"""Where posts look for others by the keys by which they are found."""
LEAVE = (
    SHARD
    + """
local leaving = ARGV[4]
local function without(held, position)
  local at = string.find(held, position, 1, true)
  while at and (at - 1) % size ~= 0 do at = string.find(held, position, at + 1, true) end
  return at and sub(held, 1, at - 1) .. sub(held, at + size)
end
local function leave(shard, field, position)
  local own = shard .. field
  local held = call('HGET', shard, field)
  if held == '' then
    local stay = without(call('GET', own) or '', position)
    if stay then call('SET', own, stay, 'KEEPTTL') end
    return stay
  end
  local stay = held and without(held, position)
  if stay == '' then call('HDEL', shard, field) elseif stay then call('HSET', shard, field, stay) end
  return stay
end
for at = 1, #leaving, 16 do
  local short, field = sub(leaving, at, at + 1), sub(leaving, at + 2, at + 7)
  local position = sub(leaving, at + 8, at + 15)
  if not leave(now .. short, field, position) then leave(before .. short, field, position) end
end
"""
)
CHANGE = """
local states = {}
for i, key in ipairs(KEYS) do
  local expected, to, evidence = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
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
  states[i] = state
end
return table.concat(states, ',')
"""
HOLD = """
local held = {}
for i, key in ipairs(KEYS) do
  local position, instead = ARGV[2 * i], ARGV[2 * i + 1]
  local holder = redis.call('GET', key) or ''
  if holder == instead or holder == '' then
    redis.call('SET', key, position, 'PX', ARGV[1])
    holder = position
  end
  held[i] = holder
end
return held
"""
WRITE = """
for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end
"""
TAKE = """
return {redis.call('INCRBY', KEYS[1], ARGV[1]) - ARGV[1], redis.call('GET', KEYS[2]) or ''}
"""
NOTE = """
local held = redis.call('GET', KEYS[1])
local read, watermark = tonumber(ARGV[1]), tonumber(ARGV[2])
if not held or (tonumber(held) >= read and tonumber(held) < watermark) then
  redis.call('SET', KEYS[1], ARGV[2])
end
for i = 4, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
if redis.call('HLEN', KEYS[2]) > 512 then
  for _, slice in ipairs(redis.call('HKEYS', KEYS[2])) do
    if tonumber(slice) < tonumber(ARGV[3]) then redis.call('HDEL', KEYS[2], slice) end
  end
end
"""
