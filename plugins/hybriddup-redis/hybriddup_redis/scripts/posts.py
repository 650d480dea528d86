"""Scripts over records and blocks of posts."""

from __future__ import annotations

CHANGE = """
local states = {}
for i = 1, #ARGV - 2 do
  local position, to, expected, evidence = string.match(ARGV[i + 2], '^(%d+) (%d)(%d+),(.*)$')
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
  elseif state == '' and to == '5' then
    redis.call('SET', key, to, 'PX', ARGV[2])
  end
  states[i] = state == '' and '0' or state
end
return {table.concat(states)}
"""
"""Changes each state that is as expected. Returns a digit for each state afterwards, 0 without a record. If a post is
given up before it has a record, its record becomes the digit of its state only, so that `WRITE` does not write another.

Arguments: prefix of the keys of records, milliseconds until new ones expire; of each key: the position in decimal
digits, a space, the digit of the new state, the digits of the expected states, a comma, and evidence.
"""
WRITE = """
local states = {}
for i = 1, #ARGV - 2 do
  local record = ARGV[i + 2]
  local key = KEYS[i] or string.format('%sr%.0f', ARGV[1], struct.unpack('<I8', record, 6))
  local is_new = redis.call('SET', key, record, 'PX', ARGV[2], 'NX')
  states[i] = is_new and string.sub(record, 1, 1) or redis.call('GETRANGE', key, 0, 0)
end
return {table.concat(states)}
"""
"""Writes records that do not exist yet: a repeated call must not restore an earlier state. Returns a digit for each
state afterwards.

Arguments: prefix of the keys of records, milliseconds until they expire; of each key: a record without evidence.
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
"""Reserves positions as an unfinished block. Arguments: the token of the store, the number of positions, the horizon in
milliseconds.

Returns the first position, the watermark, the oldest position that is still needed, and the unfinished blocks. The
clock is the server's, and never goes back. Marks record the next position at a time, eight per horizon; posts are
needed for a horizon and a quarter.
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
