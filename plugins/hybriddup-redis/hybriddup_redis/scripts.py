"""Lua scripts: what Redis does in one step. Each is over any number of keys, independent of each other.

On a cluster every key that a script touches is declared, and each key has arguments of its own, so that a call may be
split into calls of one key each: a cluster refuses calls of several keys while their slot is moved to another server.
On one server the many keys of buckets are not declared: scripts make them from the names of buckets, since sending them
takes the client a fifth of its time. So they go on with overflows at once. What a script returns is a list of columns,
each a string or a list with a part for each key.

Buckets are stored in hashes, many in one, so that Redis needs no key for each. Such a *shard* is named by the first two
bytes of the block key; the other six name the field. So a window has 2**16 shards: with some hundred thousand posts,
each has so few buckets that Redis stores it as one block of memory. Redis does so only while no value has more than 64
bytes. A bucket that would be larger continues in a string of its own, its *overflow*, and its field ends with a plus
sign. An overflow of more than the newest settled entries, and all that are not settled, is cut.

Ids and texts are fields of hashes, too. What is before the oldest position of use is expired: it is removed by about
every 64th new field of a hash, and with the hash when nothing was written there for a while. A hash is never
emptied, as it would lose the time when it expires: clients set that seldom.
"""

from __future__ import annotations

LOST, DAMAGED = "HYBRIDDUP-LOST", "HYBRIDDUP-DAMAGED"
"""Errors of scripts: the store is not the one that was opened; a bucket or a name cannot be read."""
BUCKETS = """
local size, begin, damaged = tonumber(ARGV[1]), ARGV[2], {err = 'HYBRIDDUP-DAMAGED'}
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
  local old, new = {}, {}
  for at = 1, #held, size do
    local position = struct.unpack('<I8', held, at)
    local into = position < settled and old or new
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
  local low, high = string.byte(sizes, 2 * i - 1, 2 * i)
  local n = (low + 256 * (high % 128)) * size
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
  if high >= 128 then call('PEXPIRE', key, ttl) end
  at = at + n
  note(held, full, rest, overflow)
end
return noted()
"""
)
"""Adds entries to buckets; returns what they held before, and of an overflow what it holds then.

With declared keys, it adds only to shards in which there is room: `OVERFLOW` adds the others.

Arguments: bytes of an entry, the beginning of the keys of shards, milliseconds until a shard or an overflow expires,
the oldest position of use, the number of settled entries of an overflow that stay (0 = all), the position before which
posts are settled; of the keys, joined: names, numbers of entries in two bytes, of which the highest bit says that the
shard expires later, entries. Columns: a byte for each
bucket, the number of its entries in the shard, and 128 if it overflows; these entries; without declared keys, the
numbers of entries of the overflows in four bytes, and the entries.
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
"""Reads buckets: as `ENTER`, without entries. Arguments: bytes of an entry, the beginning of the keys of shards; of the
keys, joined: names."""
OVERFLOW = (
    BUCKETS
    + APPENDING
    + """
local found = {}
for i, key in ipairs(KEYS) do found[i] = append(key, ARGV[i + 6]) end
return {found}
"""
)
"""Adds entries to overflows, and cuts those that are too long; returns what they hold then.

Arguments: the first six of `ENTER`; of each key: entries.
"""
LEAVING = """
local function without_many(held, positions)
  local leaving, left = {}, {}
  for at = 1, #positions, 8 do leaving[sub(positions, at, at + 7)] = true end
  for at = 1, #held, size do
    if not leaving[sub(held, at, at + 7)] then left[#left + 1] = sub(held, at, at + size - 1) end
  end
  return table.concat(left)
end
local function without(held, positions)
  if #positions > 64 then return without_many(held, positions) end
  for first = 1, #positions, 8 do
    local position, from = sub(positions, first, first + 7), 1
    repeat
      local at = string.find(held, position, from, true)
      from = at and at + 1
      if at and (at - 1) % size == 0 then held, from = sub(held, 1, at - 1) .. sub(held, at + size), at end
    until not from
  end
  return held
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
  local low, high = string.byte(counts, 2 * i - 1, 2 * i)
  local n = low + 256 * high
  local leaving = sub(positions, first, first + 8 * n - 1)
  first = first + 8 * n
  local held, rest = parts_of(call('HGET', key, field))
  local changed = without(held, leaving)
  if changed ~= held then
    if changed == '' and call('HLEN', key) > 1 then call('HDEL', key, field)
    else call('HSET', key, field, changed) end
  end
  local in_overflow = rest == 1 and #held - #changed < n * size
  if in_overflow and is_whole then leave(overflow_of(names, i), leaving) end
  flags[i] = (in_overflow and not is_whole) and '+' or '-'
end
return {table.concat(flags)}
"""
)
"""Removes posts from buckets. With declared keys, it does not touch overflows, and returns a plus sign for each bucket
whose overflow may have some of the posts.

Arguments: bytes of an entry, the beginning of the keys of shards; of the keys, joined: names, numbers of positions in
two bytes, positions.
"""
LEAVE_OVERFLOW = (
    BUCKETS
    + LEAVING
    + """
for i, key in ipairs(KEYS) do leave(key, ARGV[i + 2]) end
return {}
"""
)
"""Removes posts from overflows. Arguments: bytes of an entry, the beginning of the keys of shards; of each key:
positions."""
CHANGE = """
local states = {}
for i = 1, #ARGV - 1 do
  local position, to, expected, evidence = string.match(ARGV[i + 1], '^(%d+) (%d)(%d+),(.*)$')
  local key = KEYS[i] or ARGV[1] .. 'r' .. position
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

Arguments: the beginning of the keys of records; of each key: the position in decimal digits, a space, the digit of the
new state, those of the expected ones, a comma, and evidence.
"""
HOLDERS = """
local begin, oldest, call, sub = ARGV[1], tonumber(ARGV[2]), redis.call, string.sub
local function hash_and_field(names, at)
  local kind, high, low = string.byte(names, at, at + 2)
  return string.char(kind) .. (high * 256 + low) % 16384, sub(names, at + 2, at + 16)
end
local function holder_in(held)
  if not held then return false end
  if #held ~= 8 then error({err = 'HYBRIDDUP-DAMAGED'}) end
  local position = struct.unpack('<I8', held)
  return position >= oldest and position
end
"""
HOLD = (
    HOLDERS
    + """
local found, claims = {}, ARGV[4]
local function drop_expired(key)
  local all = call('HGETALL', key)
  for i = 1, #all, 2 do
    if not holder_in(all[i + 1]) then call('HDEL', key, all[i]) end
  end
end
for i = 1, #claims / 34 do
  local at = 34 * i - 33
  local hash, field = hash_and_field(claims, at)
  local key, position = KEYS[i] or begin .. hash, sub(claims, at + 17, at + 24)
  local instead, is_due = struct.unpack('<i8B', claims, at + 25)
  local held = call('HGET', key, field)
  local holder = holder_in(held)
  if not holder or holder == instead then
    call('HSET', key, field, position)
    if not held and string.byte(position) % 64 == 0 then drop_expired(key) end
    holder = struct.unpack('<I8', position)
  end
  if is_due == 1 then call('PEXPIRE', key, ARGV[3]) end
  found[i] = holder
end
return {found}
"""
)
"""Claims names; returns the positions of their holders.

Arguments: the beginning of the keys of hashes, the oldest position of use, milliseconds until a hash expires; of the
names, joined: the kind of name, 16 bytes of a digest, the position in eight bytes, that of the holder that may be
replaced, -1 = none, and 1 if the hash is to expire later.
"""
HELD = (
    HOLDERS
    + """
local found, names = {}, ARGV[3]
for i = 1, #names / 17 do
  local hash, field = hash_and_field(names, 17 * i - 16)
  found[i] = holder_in(call('HGET', KEYS[i] or begin .. hash, field))
end
return {found}
"""
)
"""Returns the positions of the holders of names, nothing without one. Arguments: the beginning of the keys of hashes,
the oldest position of use; of the names, joined: the kind of name, 16 bytes of a digest."""
WRITE = """
for i = 1, #ARGV - 2 do
  local record = ARGV[i + 2]
  local key = KEYS[i] or string.format('%sr%.0f', ARGV[1], struct.unpack('<I8', record, 6))
  redis.call('SET', key, record, 'PX', ARGV[2], 'NX')
end
return {}
"""
"""Writes records that are not there yet: a call that is repeated must not bring back a state from before.

Arguments: the beginning of the keys of records, milliseconds until they expire; of each key: a record without evidence.
"""

SAME_STORE = """
local key, call = KEYS[1], redis.call
if call('HGET', key, 'token') ~= ARGV[1] then return redis.error_reply('HYBRIDDUP-LOST') end
"""
TAKE = (
    SAME_STORE
    + """
local n, horizon = tonumber(ARGV[2]), tonumber(ARGV[3])
local first = call('HINCRBY', key, 'n', n) - n
local time = call('TIME')
local now = math.max(time[1] * 1000 + math.floor(time[2] / 1000), tonumber(call('HGET', key, 'c') or 0))
local unfinished, oldest, marks, last = call('HGET', key, 'o') or '', 0, {}, nil
if n > 0 then unfinished = unfinished .. string.format(' %.0f:%d', first, n) end
for clock, position in string.gmatch(call('HGET', key, 's') or '', '(%d+):(%d+)') do
  if tonumber(clock) <= now - 1.25 * horizon then oldest, marks = position, {} end
  marks[#marks + 1], last = clock .. ':' .. position, tonumber(clock)
end
if not last or last < now - horizon / 8 then marks[#marks + 1] = string.format('%.0f:%.0f', now, first) end
call('HSET', key, 'c', string.format('%.0f', now), 'o', unfinished, 's', table.concat(marks, ' '))
return {first, call('HGET', key, 'w') or '', oldest, unfinished}
"""
)
"""Takes positions, as a block that is not finished. Arguments: the token of the store, how many, the horizon in
milliseconds.

Returns the first, the watermark, the oldest position of use, and the unfinished blocks. The clock is that of the
server, and never goes back. Marks note which position was next at a moment, eight to a horizon; posts are of use for a
horizon and a quarter.
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
