# A publish as it is built: out/-.m by its publisher, who holds the file (lock ('f', m));
# the commit is the name with a SEQ, under the topic's lock t; a full subscription
# refuses before it. Subscription 2 lies elsewhere: it gets a copy, made in its tmp and
# flushed with t let go. Who holds t finishes what has a SEQ, and what has none if
# nobody holds the file.
from m3 import *
def links(x,me,v):
    # under t: 'ok' it is in all and not in out/; 'ended' somebody else saw to that
    ss=yield from subs()
    for S in ss:
        to=('new'+S,x[1],x[2],'f')
        if S in v['copy']:
            tmp=('tmp'+S,x[1],me)
            yield('creat',tmp)
            yield('unlock','t'); yield('lock','t')      # the flush
            if v['look']:
                e=yield('stat',x)
                if not e: yield('unl',tmp); return 'ended'
                e=None
            r=yield('ren',tmp,to)
            if r!='ok': yield('unl',tmp)
            tmp=r=None
        else: yield('link',x,to)
        to=None
    ss=S=None
    yield('unl',x)
    return 'ok'
def seq(x):
    q=yield('ls','seq'); sq=q[0][1]; q=None
    yield('set',frozenset([('seq',sq)]),frozenset([('seq',sq+1)]))
    y=('out',x[1],sq)
    r=yield('ren',x,y)
    return y if r=='ok' else None
def finall(me,v,mine=None):
    o=yield('ls','out')
    for x in o:
        if x[2] is not None: yield from links(x,me,v); continue
        if x[1]==mine: continue      # a lock of another open file than this one
        if v['flock']:
            r=yield('try',('f',x[1]))
            if r!='ok': continue
            r=None
        e=yield('stat',x)
        if e:
            y=yield from seq(x)
            if y: yield from links(y,me,v)
            y=None
        if v['flock']: yield('unlock',('f',x[1]))
        e=None
def P(m,v,acts):
    yield('try',('f',m))
    yield('ren',('tmp',m),('out',m,None))
    yield('lock','t'); yield from finall('P'+m,v,m)
    a=yield('choose',acts)
    x=('out',m,None)
    if a=='refuse':
        r=yield('unl',x)
        yield('unlock','t')
        if r=='ok': yield('ghost',frozenset([('refused',m)]))
        else: yield('viol','the file of a living publisher was taken')
        return
    y=yield from seq(x)
    if y is None: yield('viol','the file of a living publisher was taken')
    else:
        yield from links(y,'P'+m,v)
        yield('unlock','t'); yield('ghost',frozenset([('conf',m)]))
def F(v):
    yield('ls','out'); yield('lock','t'); yield from finall('F',v); yield('unlock','t')
def CN(S,rounds,v,acts):
    k=0
    while k<rounds:
        k+=1
        s=yield('ls','new'+S)
        if not s: continue
        x=yield('choose',s); s=None
        if x[3]=='f':
            o=yield('stat',('out',x[1],x[2]))
            if o: yield('lock','t'); yield from finall('C'+S,v); yield('unlock','t')
        c=('cur'+S,x[1],x[2])
        r=yield('ren',x,c)
        if r!='ok': continue
        yield('unl',c,frozenset([('ack',S,x[1])]))
        c=x=r=o=None
def ADD(S,v):
    yield('lock','t'); yield from finall('A',v); yield('mkdir','new'+S); yield('unlock','t')
def RMS(S,v):
    yield('lock','t'); yield('rmtree',('new'+S,'cur'+S)); yield('unlock','t')
def FIN(v):
    yield('final',); yield('lock','t'); yield from finall('E',v); yield('ghost',frozenset([('end',)]))
def mkinv(ms,stable):
    def inv(fs,gh):
        for m in ms:
            n={S:sum(1 for x in fs if x[0] in('new'+S,'cur'+S) and x[1]==m)+(('ack',S,m) in gh) for S in('1','2','3')}
            if any(k>1 for k in n.values()): return 'twice: %s %s'%(m,n)
            if ('refused',m) in gh and any(n.values()): return 'refused but there: %s %s'%(m,n)
            if ('conf',m) in gh and not all(n[S] for S in stable): return 'lost: %s %s'%(m,n)
            if ('end',) in gh and len({n[S] for S in stable})>1: return 'in some alone: %s %s'%(m,n)
    return inv
class V(dict):
    __hash__=lambda s:hash(tuple(sorted((k,tuple(x) if isinstance(x,(set,list)) else x) for k,x in s.items())))
def go(name,ms,ss,stable,procs,cr,v,**k):
    fs=frozenset([('seq',0)]+[('tmp',m) for m in ms]+[('D','new'+s) for s in ss])
    return run(procs+[(FIN,v)],fs,cr,inv=mkinv(ms,stable),name=name,mdirs=('new1','new2','new3'),**k)
if __name__=='__main__':
    B=('go','refuse')
    g=V(copy='',look=True,flock=True); c=V(copy='2',look=True,flock=True)
    go('3p links, 2 pubs, refusals, F, C1, crash2',['a','b'],'12','12',[(P,'a',g,B),(P,'b',g,('go',)),(F,g),(CN,'1',1,g,0)],2,g)
    go('3p a copy with the lock let go, F, C2, crash2',['a'],'12','12',[(P,'a',c,B),(F,c),(F,c),(CN,'2',1,c,0)],2,c)
    go('3p a copy, 2 pubs, C2, crash1',['a','b'],'12','12',[(P,'a',c,('go',)),(P,'b',c,('go',)),(CN,'2',1,c,0)],1,c,limit=8e5)
    go('3p a copy, add 3, rm 1 unfinished, crash2',['a'],'12','2',[(P,'a',c,B),(F,c),(ADD,'3',c),(RMS,'1',c)],2,c)
    n=V(copy='2',look=False,flock=True); go('3q no look at out/ after the flush',['a'],'12','12',[(P,'a',n,('go',)),(F,n),(CN,'2',1,n,0)],1,n)
    n=V(copy='',look=True,flock=False); go('3q a finisher that takes any without SEQ',['a'],'12','12',[(P,'a',n,B),(F,n)],0,n)
