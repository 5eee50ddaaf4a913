-- Makes the parts up to p_days after p_today, as baseline/10_request_parts.sql has it. But parts that a clock far ahead made no longer stop
-- those of the real days: each day of these that has no part gets one. Days that have rows in the default part stay there. Their parts are
-- not tried, and neither are those within the part for rows from before the first start, if the clock ran ahead then: a try locks the whole
-- log while it reads the default part, and there is one each minute.
create or replace function request_parts_ahead(p_today date, p_days integer, p_by_month boolean) returns integer language plpgsql as $$
declare
  v_kind text;
  v_low date;
  v_high date;
  v_from text;
  v_to text;
  v_made integer := 0;
begin
  foreach v_kind in array array['req', 'task'] loop
    select greatest(max(p.high), p_today - 1) into v_low from request_parts p where p.kind = v_kind and p.low <= p_today;
    while v_low < p_today + p_days loop
      select p.high into v_high from request_parts p where p.kind = v_kind and p.low <= v_low and p.high > v_low;
      if not found then
        select least(min(p.low), case when p_by_month or v_kind = 'task' then (date_trunc('month', v_low::timestamp) + interval '1 month')::date
          else v_low + 1 end) into v_high from request_parts p where p.kind = v_kind and p.low > v_low;
        v_from := v_kind || '_' || id_time(v_low::timestamp at time zone 'UTC');
        v_to := v_kind || '_' || id_time(v_high::timestamp at time zone 'UTC');
        if not exists (select from request_parts p where p.kind = v_kind and p.low is null and v_kind || '_' || p.until > v_from)
          and not exists (select from requests_default d where d.id >= v_from and d.id < v_to) then
          begin
            execute format('create table %I partition of requests for values from (%L) to (%L)',
              format('requests_%s_%s_%s', v_kind, to_char(v_low, 'YYYYMMDD'), to_char(v_high, 'YYYYMMDD')), v_from, v_to);
            v_made := v_made + 1;
          -- A row came meanwhile.
          exception when check_violation then
            null;
          end;
        end if;
      end if;
      v_low := v_high;
    end loop;
  end loop;
  return v_made;
end
$$;
