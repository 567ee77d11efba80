# -F, as mq-ls has it; t/unit/test-filter.c has the language.
# shellcheck disable=SC2154,SC2016 # bats sets them; for bash -c
load helper

matches() { mq-ls -o body "${@/#/-F}" q | paste -sd ' '; }

fill() {
	mq-put -q -m a -a n=9 -a region=eu -p 1 q
	mq-put -q -m b -a n=10 -a 'name=x,y' q
	mq-put -q -m c -d 1h q
}

@test "filter: attributes, numbers as numbers" {
	fill
	assert_equal "$(matches 'n>9')" b
	assert_equal "$(matches 'n<=9.0')" a
	assert_equal "$(matches 'region!=eu')" 'b c'
	assert_equal "$(matches 'has:n')" 'a b'
	assert_equal "$(matches '!has:n')" c
	assert_equal "$(matches 'name="x,y"')" b
}

@test "filter: a comma is and, a further -F is or" {
	fill
	assert_equal "$(matches 'has:n,n<10')" a
	assert_equal "$(matches 'n<10' 'state=later')" 'a c'
}

@test "filter: what a message has besides attributes" {
	fill
	assert_equal "$(matches 'priority<5')" a
	assert_equal "$(matches 'state=ready,priority=5')" b
	assert_equal "$(matches 'body*=c')" c
	assert_equal "$(matches 'age<1d,tries=0,size=1,queue=q')" 'a b c'
	assert_equal "$(matches 'has:key')" ''
}

@test "filter: @NAME is the attribute where a field has the name" {
	mq-put -q -m a -a state=odd q
	assert_equal "$(matches 'state=odd')" ''
	assert_equal "$(matches '@state=odd')" a
}

@test "filter: the body with its NULs" {
	printf 'a\0b' | mq-put -q q
	run -0 mq-ls -F 'body$=b,body!=a' -o size q
	assert_output 3
}

@test "filter: a fault is 64, with a caret under it" {
	mq-put -q -m a q
	run -64 mq-ls -F 'n=1,word' q
	assert_line 1 '    n=1,word'
	assert_line 2 '        ^'
	run -64 mq-ls -F 'age>soon' q
	assert_line 2 '        ^'
	run -64 mq-ls -F '' q
	run -64 mq-ls -F 'n=1' -F 'a b' q
}

@test "filter: the shell's > leaves a bare word" {
	mq-put -q -m a q
	run -64 bash -c 'mq-ls -F amount>100 q; s=$?; [ -e 100 ] && exit $s'
	assert_match 'a word alone says nothing'
}
