"""What Redis does by itself in one step: Lua, each call over keys of one partition only.

Buckets lie in hashes, many in one, so that Redis stores them without a key each: such a *shard* is named by a slice of
time, as long as the horizon, and the first two bytes of the block key; the others name the field. So all partitions
together have 2**16 shards of a slice: for some hundred thousand posts, each has so few buckets that Redis stores it as
one block of memory, and so many that this is worthwhile. Redis stores a hash as
one block of memory where no value has more than 64 bytes, so a larger bucket lies by itself, and its field is empty.
Scripts only name such buckets, and who has asked reads them: Redis hashes each text that a script gets, byte by byte.
An entry that leaves one that is limited is marked by a position of ones, and goes when that is cut to its newest. A
shard expires as a whole. Two slices are looked into, that of this moment and the one before. The server's clock tells
which these are, so that whoever reads later sees what was written before.
"""

from __future__ import annotations

SHARD = """
local prefix, length, size, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local slice = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / length)
local now, before = prefix .. 'b' .. slice .. ':', prefix .. 'b' .. (slice - 1) .. ':'
local call, sub, gone = redis.call, string.sub, string.rep('\\255', 8)
local function place_in(held, position, from)
  local at = string.find(held, position, from, true)
  while at and (at - 1) % size ~= 0 do at = string.find(held, position, at + 1, true) end
  return at
end
"""
ADDING = """
local n_added = {}
local function newest(held, n)
  local stay, from, at = {}, 1, place_in(held, gone, 1)
  while at do
    stay[#stay + 1], from = sub(held, from, at - 1), at + size
    at = place_in(held, gone, from)
  end
  stay[#stay + 1] = sub(held, from)
  return sub(table.concat(stay), -n)
end
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
  elseif most == 0 then
    call('APPEND', shard .. field, entry)
  else
    local own = shard .. field
    n_added[own] = (n_added[own] or 0) + 1
    local least = most + n_added[own] * size
    if call('APPEND', own, entry) > 1.25 * least then
      call('SET', own, newest(call('GET', own), least), 'PX', 2 * length)
    end
  end
  return held
end
"""
READING = """
local counts, found, larger = {}, {}, {}
local function note(begin, short, field, held)
  if held == '' then
    larger[#larger + 1], larger[#larger + 2] = #counts, begin .. short .. field
  elseif held then
    found[#found + 1], counts[#counts] = held, counts[#counts] + #held / size
  end
end
"""
ADD = (
    SHARD
    + ADDING
    + """
local adds = ARGV[4]
for at = 1, #adds, 8 + size do
  add(sub(adds, at, at + 1), sub(adds, at + 2, at + 7), sub(adds, at + 8, at + 7 + size))
end
"""
)
"""Puts entries into buckets."""
READ = (
    SHARD
    + READING
    + """
local reads = ARGV[4]
for at = 1, #reads, 8 do
  local short, field = sub(reads, at, at + 1), sub(reads, at + 2, at + 7)
  counts[#counts + 1] = 0
  note(before, short, field, call('HGET', before .. short, field))
  note(now, short, field, call('HGET', now .. short, field))
end
return {counts, table.concat(found), larger}
"""
)
"""Reads buckets."""
ENTER = (
    SHARD
    + ADDING
    + READING
    + """
local adds = ARGV[4]
for at = 1, #adds, 8 + size do
  local short, field = sub(adds, at, at + 1), sub(adds, at + 2, at + 7)
  counts[#counts + 1] = 0
  note(before, short, field, call('HGET', before .. short, field))
  note(now, short, field, add(short, field, sub(adds, at + 8, at + 7 + size)))
end
return {counts, table.concat(found), larger}
"""
)
"""Reads each bucket and adds to it, where posts look for others by the keys by which they are found."""
LEAVE = (
    SHARD
    + """
local leaving = ARGV[4]
local function leave_larger(own, position)
  local n = call('STRLEN', own)
  for _, begin in ipairs({math.max(n - 64 * size, 0), 0}) do
    local at = place_in(call('GETRANGE', own, begin, -1), position, 1)
    if at and most > 0 then
      call('SETRANGE', own, begin + at - 1, gone)
      return true
    elseif at then
      local held = call('GET', own)
      call('SET', own, sub(held, 1, begin + at - 1) .. sub(held, begin + at + size), 'KEEPTTL')
      return true
    end
  end
end
local function leave(shard, field, position)
  local held = call('HGET', shard, field)
  if held == '' then return leave_larger(shard .. field, position) end
  local at = held and place_in(held, position, 1)
  if not at then return false end
  if #held == size then call('HDEL', shard, field)
  else call('HSET', shard, field, sub(held, 1, at - 1) .. sub(held, at + size)) end
  return true
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
