// A static function of a name that program.c has too.
int twinned;
__attribute__((noinline)) static void twin(void)
{
	twinned++;
	__asm__ volatile("");
}
void twins(void) { twin(); }
