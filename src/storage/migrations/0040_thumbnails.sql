-- Small copies of produced pictures, made when somebody looks. Each is a file of its own that ends with its picture.
alter table files drop constraint files_purpose_check;
alter table files add constraint files_purpose_check check (purpose in ('input', 'result', 'answer', 'thumbnail'));
