"""Scripts over buckets.

Buckets are fields of hashes, so that they need no Redis keys of their own. Such a hash, a *shard*, is named by the
first two bytes of the mixed block key; the other six name the field. So a window has 2**16 shards: with some hundred
thousand posts, a shard is small enough for Redis to store it as one block of memory. Redis does so only while no value
has more than 64 bytes. A bucket that would be larger continues in a string of its own, its *overflow*, and its field
ends with a plus sign. An overflow that has become too long is cut to its newest settled entries and all unsettled ones.

A post that left a bucket for good has an entry there with the greatest length, a *mark*, which hides other entries of
the post that arrive late. When an overflow is cut, neither the mark nor these entries count as settled.

On one server, the keys are not declared: scripts derive them from the names of buckets, because sending them takes a
fifth of the client's time. These scripts also read and write overflows.
"""

from __future__ import annotations

BUCKETS = """
local size, begin, damaged = tonumber(ARGV[1]), ARGV[2], 'HYBRIDDUP-DAMAGED'
local call, sub, char, is_whole = redis.call, string.sub, string.char, #KEYS == 0
local function shard_and_field(names, i)
  return KEYS[i] or begin .. sub(names, 8 * i - 7, 8 * i - 6), sub(names, 8 * i - 5, 8 * i)
end
local function overflow_of(names, i) return begin .. sub(names, 8 * i - 7, 8 * i) end
local function parts_of(held)
  held = held or ''
  local rest = #held % size
  if rest > 1 or (rest == 1 and sub(held, -1) ~= '+') then error(damaged) end
  return held, rest
end
"""
APPENDING = """
local ttl, oldest, most, settled = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function cut(held)
  local old, new, has_left = {}, {}, {}
  for at = 1, #held, size do
    local position, length = struct.unpack('<I8I4', held, at)
    if length == 4294967295 then has_left[position] = true end
  end
  for at = 1, #held, size do
    local position = struct.unpack('<I8', held, at)
    local into = position < settled and not has_left[position] and old or new
    if position >= oldest then into[#into + 1] = sub(held, at, at + size - 1) end
  end
  return table.concat(old, '', math.max(#old - most, 0) + 1) .. table.concat(new)
end
local function append(key, entries)
  local length = call('APPEND', key, entries)
  local held = call('GET', key)
  if #held % size ~= 0 then error(damaged) end
  if most > 0 and length > 1.25 * most * size then
    held = cut(held)
    if #held < length then call('SET', key, held) end
  end
  call('PEXPIRE', key, ttl)
  return held
end
"""
READING = """
local flags, found, counts, larger = {}, {}, {}, {}
local function note(held, is_full, rest, overflow)
  flags[#flags + 1] = char((#held - rest) / size + (is_full and 128 or 0))
  found[#found + 1] = rest == 1 and sub(held, 1, -2) or held
  if overflow then counts[#counts + 1], larger[#larger + 1] = struct.pack('<I4', #overflow / size), overflow end
end
local function noted()
  return {table.concat(flags), table.concat(found), table.concat(counts), table.concat(larger)}
end
"""
ENTER = (
    BUCKETS
    + APPENDING
    + READING
    + """
local room = math.max(math.floor(63 / size), 1) * size
local function of_use(held)
  local stay = {}
  for at = 1, #held - #held % size, size do
    if struct.unpack('<I8', held, at) >= oldest then stay[#stay + 1] = sub(held, at, at + size - 1) end
  end
  return table.concat(stay)
end
local function drop_expired(key)
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do
    if #all[i + 1] % size == 0 and of_use(all[i + 1]) == '' then call('HDEL', key, all[i]) end
  end
end
local names, sizes, entries, at = ARGV[7], ARGV[8], ARGV[9], 1
for i = 1, #names / 8 do
  local key, field = shard_and_field(names, i)
  local n = struct.unpack('<I2', sizes, 2 * i - 1) * size
  local held, rest = parts_of(call('HGET', key, field))
  local full, overflow = rest == 1 or #held + n > room, nil
  if full and rest == 0 then
    held = of_use(held)
    full = #held + n > room
  end
  if not full then
    call('HSET', key, field, held .. sub(entries, at, at + n - 1))
    if held == '' and string.byte(entries, at) % 64 == 0 then drop_expired(key) end
  else
    if rest == 0 then call('HSET', key, field, held .. '+') end
    if is_whole then overflow = append(overflow_of(names, i), sub(entries, at, at + n - 1)) end
  end
  call('PEXPIRE', key, ttl)
  at = at + n
  note(held, full, rest, overflow)
end
return noted()
"""
)
"""Adds entries to buckets; returns the entries that shards had before, and the entries that overflows have afterwards.

With declared keys, it adds only to shards that have room: `OVERFLOW` adds the other entries.

Arguments: bytes of an entry, prefix of the keys of shards, milliseconds until a shard or an overflow expires, the
oldest position that is still needed, the number of settled entries of an overflow that stay (0 = all), the position
before which posts are settled; of the keys, joined: names, numbers of entries in two bytes, entries.

Columns: a byte for each bucket, the number of its entries in the shard plus 128 if it overflows; these entries; without
declared keys, the numbers of entries of the overflows in four bytes, and the entries.
"""
READ = (
    BUCKETS
    + READING
    + """
local names = ARGV[3]
for i = 1, #names / 8 do
  local held, rest = parts_of(call('HGET', shard_and_field(names, i)))
  note(held, rest == 1, rest, rest == 1 and is_whole and (call('GET', overflow_of(names, i)) or ''))
end
return noted()
"""
)
"""Reads buckets; returns the same columns as `ENTER`. Arguments: bytes of an entry, prefix of the keys of shards; of
the keys, joined: names."""
OVERFLOW = (
    BUCKETS
    + APPENDING
    + """
local found = {}
for i, key in ipairs(KEYS) do found[i] = append(key, ARGV[i + 6]) end
return {found}
"""
)
"""Adds entries to overflows, and cuts overflows that are too long; returns their contents afterwards.

Arguments: the first six of `ENTER`; of each key: entries.
"""
LEAVING = """
local function without(held, positions)
  local leaving, left = {}, {}
  for at = 1, #positions, 8 do leaving[sub(positions, at, at + 7)] = true end
  for at = 1, #held, size do
    if not leaving[sub(held, at, at + 7)] then left[#left + 1] = sub(held, at, at + size - 1) end
  end
  return table.concat(left)
end
local function leave(key, positions)
  local held = call('GET', key) or ''
  if #held % size ~= 0 then error(damaged) end
  local changed = without(held, positions)
  if changed == '' then call('DEL', key)
  elseif #changed < #held then call('SET', key, changed, 'KEEPTTL') end
end
"""
LEAVE = (
    BUCKETS
    + LEAVING
    + """
local names, counts, positions, first = ARGV[3], ARGV[4], ARGV[5], 1
local flags = {}
for i = 1, #names / 8 do
  local key, field = shard_and_field(names, i)
  local n = struct.unpack('<I2', counts, 2 * i - 1)
  local leaving = sub(positions, first, first + 8 * n - 1)
  first = first + 8 * n
  local held, rest = parts_of(call('HGET', key, field))
  local changed = without(held, leaving)
  if changed ~= held then
    if changed == '' then call('HDEL', key, field) else call('HSET', key, field, changed) end
  end
  local in_overflow = rest == 1 and #held - #changed < n * size
  if in_overflow and is_whole then leave(overflow_of(names, i), leaving) end
  flags[i] = (in_overflow and not is_whole) and '+' or '-'
end
return {table.concat(flags)}
"""
)
"""Removes posts from buckets. With declared keys, it does not touch overflows, and returns a plus sign for each bucket
whose overflow may have some of the posts, a minus sign for the others.

Arguments: bytes of an entry, prefix of the keys of shards; of the keys, joined: names, numbers of positions in two
bytes, positions.
"""
LEAVE_OVERFLOW = (
    BUCKETS
    + LEAVING
    + """
for i, key in ipairs(KEYS) do leave(key, ARGV[i + 2]) end
return {}
"""
)
"""Removes posts from overflows. Arguments: bytes of an entry, prefix of the keys of shards; of each key: positions."""
